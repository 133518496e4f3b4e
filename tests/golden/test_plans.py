"""Plan, public view and delta of typical queries, also steps and SQL of some, as files whose diff we review.

A query's first line names the changed tables and the form in which the delta reaches the state:
`-- changed lineitem; merge`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from sparkivm.engine import RelationFacts
from sparkivm.explain.plan_lines import delta_lines, delta_steps, plan_steps
from sparkivm.explain.plan_tree import plan_tree, tree_lines
from sparkivm.formats.refresh_texts import PinnedTable, RefreshTexts
from sparkivm.formats.source_change import SourceChange
from sparkivm.names import TableName
from sparkivm.plan.join_order import Sizes
from sparkivm.plan.state import STAGED, STATE
from sparkivm.plan.state_change import state_change
from sparkivm.spark_sql.dialects import SPARK
from sparkivm.spark_sql.relations import select_text, step_texts
from tests.golden.compiled import compiled, new_engine
from tests.golden.files import compare
from tests.golden.tpch import ROWS

HERE = Path(__file__).parent
QUERIES = sorted(path.stem for path in (HERE / "queries").glob("*.sql"))
WITH_STEPS = ("late_lines",)
WITH_SQL = ("customers_with_orders", "latest_orders", "pricing_summary")


@pytest.fixture(scope="module")
def engine():
    return new_engine()


def at(table: str, version: int) -> RelationFacts:
    return RelationFacts(TableName(*table.split(".")), "delta", (), version=version)


def golden(engine, name: str, text: str) -> str:
    changed, form = text.splitlines()[0].removeprefix("-- changed ").split("; ")
    plan = compiled(engine, text)
    keys = frozenset(f"tpch.{table}" for table in changed.split(", "))
    feed = SourceChange("feed", 7, 9, 6000, nets=True)
    tables = {
        key: PinnedTable(at(key, 9 if key in keys else 7), feed if key in keys else None)
        for key in plan.tables
    }
    tables[STATE] = PinnedTable(at("tpch.model__ivm", 3))
    sizes = Sizes(
        {STATE: 1000.0, **{key: ROWS[key.split(".")[-1]] for key in plan.tables}}, dict.fromkeys(keys, 6000.0)
    )
    form, _, part = form.partition(" of ")
    change = state_change(plan.state, form, keys, sizes, part)
    texts = RefreshTexts(tables, {STAGED: STAGED})
    parts = {
        "plan": "\n".join(tree_lines(plan_tree(plan))),
        "public view": plan.finalizer.text("tpch.model__ivm", "one", SPARK),
        "delta": "\n".join(delta_lines(change)[1:]),
    }
    if name in WITH_STEPS:
        parts["steps"] = "\n".join(plan_steps(plan) + delta_steps(change))
    if name in WITH_SQL:
        parts |= dict(step_texts(change.staged, texts, STAGED)) if change.staged else {}
        parts["statement"] = select_text(change.rows, texts)
    return "".join(f"-- {title}\n{body}\n\n" for title, body in parts.items())


@pytest.mark.parametrize("name", QUERIES)
def test_plan(engine, name, pytestconfig):
    found = golden(engine, name, (HERE / "queries" / f"{name}.sql").read_text())
    compare(found, HERE / "plans" / f"{name}.txt", pytestconfig)


def test_every_plan_has_its_query():
    assert sorted(path.stem for path in (HERE / "plans").glob("*.txt")) == QUERIES
