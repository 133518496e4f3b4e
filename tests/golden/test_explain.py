"""What explain says about the TPC-H and TPC-DS queries: each operator's strategy, and the state's columns."""

from __future__ import annotations

from pathlib import Path

import pytest

from sparkivm.explain.plan_lines import plan_lines
from sparkivm.plan.compile_model import ViewPlan
from tests.golden.compiled import compiled, new_engine
from tests.golden.files import compare
from tests.tpcds.empty import compiled_model
from tests.tpcds.generator import NUMBERS
from tests.tpch.queries import QUERIES, query_text

HERE = Path(__file__).parent / "explain"


@pytest.fixture(scope="module")
def tpch():
    return new_engine()


@pytest.mark.parametrize("query", QUERIES, ids=lambda query: query.stem)
def test_explain_tpch(tpch, query, pytestconfig):
    compare(_explained(compiled(tpch, query_text(query))), HERE / "tpch" / f"{query.stem}.txt", pytestconfig)


@pytest.mark.parametrize("number", NUMBERS)
def test_explain_tpcds(number, pytestconfig):
    found = _explained(compiled_model(number))
    compare(found, HERE / "tpcds" / f"q{number:02}.txt", pytestconfig)


def test_every_file_has_its_query():
    names = {f"tpch/{query.stem}" for query in QUERIES} | {f"tpcds/q{number:02}" for number in NUMBERS}
    assert {str(file.relative_to(HERE).with_suffix("")) for file in HERE.rglob("*.txt")} == names


def _explained(plan: ViewPlan) -> str:
    return "\n".join(plan_lines(plan)) + "\n"
