"""The statements that change a state, executed in the embedded engine as Spark and Delta execute them."""

from __future__ import annotations

from functools import cache
from typing import Any

import sqlglot
from sqlglot import exp

from sparkivm.engine import Row
from tests.bare_macros import BareMacros
from tests.fuzz.embedded import Embedded

_MACROS = BareMacros()


class DeltaError(Exception):
    """Delta would refuse the statement."""


class EmbeddedEngine:
    """The part of the Engine protocol that applies changes, for statements with simple SELECTs."""

    def __init__(self, database: Embedded) -> None:
        self._database = database

    def render(self, macro: str, **arguments: Any) -> str:
        return _MACROS.render(macro, **arguments)

    def query(self, sql: str) -> list[Row]:
        text = sqlglot.transpile(sql, read="spark", write="duckdb")[0]
        found = self._database.connection.execute(text)
        names = [name for name, *_ in found.description or ()]
        return [dict(zip(names, row, strict=True)) for row in found.fetchall()]

    def execute(self, sql: str) -> None:
        for check, text in _translated(sql):
            found = self._database.connection.execute(text)
            if check and (row := found.fetchone()):
                raise DeltaError(f"{check}: {row}")


@cache
def _translated(sql: str) -> tuple[tuple[str, str], ...]:
    """The texts for the embedded engine. For a check, also the meaning of a row that it finds."""
    tree = sqlglot.parse_one(sql, dialect="spark")
    if isinstance(tree, exp.Merge):
        return _merge(tree)
    assert isinstance(tree, exp.Insert), sql
    where, overwrite = tree.args.get("where"), tree.args.get("overwrite")
    insert = tree.copy()
    insert.set("where", None)
    insert.set("overwrite", False)
    texts = [("", insert.sql(dialect="duckdb"))]
    target = tree.find(exp.Table)
    assert target is not None
    if overwrite or where:
        delete = exp.Delete(this=target.copy(), where=exp.Where(this=where.copy()) if where else None)
        texts.insert(0, ("", delete.sql(dialect="duckdb")))
    if where:
        rows = exp.Subquery(this=tree.expression.copy(), alias="new_rows")
        outside = exp.select("*").from_(rows).where(exp.not_(exp.func("coalesce", where.copy(), exp.false())))
        texts.insert(0, ("a new row is not in the part", outside.sql(dialect="duckdb")))
    return tuple(texts)


def _merge(tree: exp.Merge) -> tuple[tuple[str, str], ...]:
    """MERGE. A row matched by two source rows is an error, unless all matched rows are deleted."""
    tree = tree.copy()
    for when in tree.find_all(exp.When):
        then = when.args["then"]
        if isinstance(then, exp.Update):
            for assignment in then.expressions:
                assignment.set("this", exp.column(assignment.this.this.copy()))  # without the table's alias
    clauses = list(tree.find_all(exp.When))
    matched = [when for when in clauses if when.args.get("matched")]
    only_deletes = (
        len(matched) == 1 and not matched[0].args.get("condition") and "delete" in matched[0].sql().lower()
    )
    texts = [("", tree.sql(dialect="duckdb"))]
    if not only_deletes:
        target, source, on = (tree.args[part].sql(dialect="duckdb") for part in ("this", "using", "on"))
        twice = f"select count(*) from {target} join {source} on {on} group by t.rowid having count(*) > 1"
        texts.insert(0, ("several rows of the source match a row", twice))
    return tuple(texts)
