"""The plan, the public view and the delta statements of typical queries, as files whose diff is reviewed.

A query's first line names the tables that change, and the form in which the delta reaches the state:
`-- changed lineitem; merge`.
"""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest
from sqlglot import exp

from sparkivm.algebra.moment import function_of
from sparkivm.changes.delta_texts import DeltaTexts, PinnedTable
from sparkivm.changes.source_change import SourceChange
from sparkivm.engine import Field
from sparkivm.explain.explain_view import tree_lines
from sparkivm.explain.plan_tree import plan_tree
from sparkivm.frontend.catalog import CatalogTable
from sparkivm.frontend.parse import parse_model
from sparkivm.frontend.select import read_query
from sparkivm.names import TableName
from sparkivm.plan.compile_model import compile_query
from sparkivm.plan.join_order import Sizes
from sparkivm.plan.state import STAGED, STATE
from sparkivm.plan.state_change import state_change
from sparkivm.spark_sql.dialects import DUCKDB, SPARK
from sparkivm.spark_sql.relations import select_text, step_texts
from tests.golden.tpch import ROWS, TABLES

HERE = Path(__file__).parent
QUERIES = sorted(path.stem for path in (HERE / "queries").glob("*.sql"))


class Catalog:
    """TPC-H, registered as `tpch.<table>`."""

    def lookup(self, parts: tuple[str, ...], namespace: tuple[str, ...]) -> CatalogTable:
        return CatalogTable(
            f"tpch.{parts[-1]}", tuple(Field(name, type_) for name, type_ in TABLES[parts[-1]])
        )


class Empty:
    """SourceTexts of tables without rows, to ask the embedded engine for types."""

    def new(self, table: str) -> str:
        return table

    old = new

    def changes(self, table: str, fields: object) -> str:
        raise AssertionError("only types are asked for")

    def moment(self, key: str, before: bool) -> exp.Expr:
        return function_of(key)


@pytest.fixture(scope="module")
def engine():
    connection = duckdb.connect()
    connection.execute("create schema tpch")
    for table, columns in TABLES.items():
        declared = ", ".join(f"{name} {type_.replace('string', 'varchar')}" for name, type_ in columns)
        connection.execute(f"create table tpch.{table} ({declared})")
    return connection


def described(engine, sql: str) -> tuple[Field, ...]:
    names = engine.execute(f"select * from ({sql}) as q limit 0").description
    return tuple(Field(name, str(type_).lower().replace("varchar", "string")) for name, type_, *_ in names)


def golden(engine, text: str) -> str:
    changed, form = text.splitlines()[0].removeprefix("-- changed ").split("; ")
    tree = parse_model("model", text)
    query = read_query(tree, Catalog())

    def types_of(relation):
        return tuple(field.type for field in described(engine, select_text(relation, Empty(), DUCKDB)))

    plan = compile_query(query, described(engine, tree.sql("duckdb")), types_of)
    keys = frozenset(f"tpch.{table}" for table in changed.split(", "))
    feed = SourceChange("feed", 7, 9, 6000, nets=True)
    tables = {
        key: PinnedTable(TableName(*key.split(".")), 9 if key in keys else 7, feed if key in keys else None)
        for key in plan.tables
    }
    tables[STATE] = PinnedTable(TableName("tpch", "model__ivm"), 3)
    sizes = Sizes(
        {STATE: 1000.0, **{key: ROWS[key.split(".")[-1]] for key in plan.tables}}, dict.fromkeys(keys, 6000.0)
    )
    form, _, part = form.partition(" of ")
    change = state_change(plan.state, form, keys, sizes, part)
    texts = DeltaTexts(tables, {STAGED: STAGED})
    parts = {
        "plan": "\n".join(tree_lines(plan_tree(plan), 0)),
        "public view": plan.finalizer.text("tpch.model__ivm", "one", SPARK),
        **(dict(step_texts(change.staged, texts, STAGED)) if change.staged else {}),
        f"{form} of {change.kind}": select_text(change.rows, texts),
    }
    return "".join(f"-- {title}\n{body}\n\n" for title, body in parts.items())


@pytest.mark.parametrize("name", QUERIES)
def test_plan(engine, name, pytestconfig):
    found = golden(engine, (HERE / "queries" / f"{name}.sql").read_text())
    file = HERE / "plans" / f"{name}.txt"
    if pytestconfig.getoption("--rewrite", default=False):
        file.write_text(found)
    assert found == file.read_text(), "make golden, and read the diff"


def test_every_plan_has_its_query():
    assert sorted(path.stem for path in (HERE / "plans").glob("*.txt")) == QUERIES
