"""What explain says of TPC-H's queries: each operator with its strategy, and the state's columns."""

from __future__ import annotations

from pathlib import Path

import pytest

from sparkivm.explain.explain_view import plan_lines
from tests.golden.compiled import compiled, new_engine
from tests.golden.files import compare
from tests.tpch.queries import QUERIES, query_text

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def engine():
    return new_engine()


@pytest.mark.parametrize("query", QUERIES, ids=lambda query: query.stem)
def test_explain(engine, query, pytestconfig):
    found = "\n".join(plan_lines(compiled(engine, query_text(query)))) + "\n"
    compare(found, HERE / "explain" / f"{query.stem}.txt", pytestconfig)


def test_every_file_has_its_query():
    assert sorted(file.stem for file in (HERE / "explain").glob("*.txt")) == [query.stem for query in QUERIES]
