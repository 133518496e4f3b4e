"""The embedded engine: Spark SQL in, rows and Spark's names of types out."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any

import duckdb
import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from sparkivm.engine import EngineError, Field

# What Spark has and sqlglot does not translate.
_FUNCTIONS = (
    "array_repeat(v, n) as [v for i in range(n)]",
    "unix_micros(t) as epoch_us(t)",
    "timestamp_micros(n) as make_timestamp(n)",
    "raise_error(message) as error(message)",
    "count_if(c) as count(case when c then 1 end)",  # DuckDB's can be NULL
)
_TYPES = {
    "hugeint": "bigint",  # of a sum of integers
    "integer": "int",
    "varchar": "string",
    "blob": "binary",
    "null": "void",
    '"null"': "void",
    "timestamp with time zone": "timestamp",
    "timestamp": "timestamp_ntz",
}

Resolve = Callable[[exp.Table], exp.Expression]


class Database:
    """One connection; `content` names tables that never change, the rows of one version of a table each."""

    def __init__(self) -> None:
        self.connection = duckdb.connect(config={"threads": 1})
        # The rows are few; planning is what takes the time.
        self.connection.execute("pragma disable_optimizer")
        for function in _FUNCTIONS:
            self.connection.execute(f"create macro {function}")
        self._numbers = itertools.count()

    def rows(self, sql: str) -> list[dict[str, Any]]:
        found = self.run(sql)
        names = [name for name, *_ in found.description or ()]
        return [dict(zip(names, row, strict=True)) for row in found.fetchall()]

    def fields(self, sql: str) -> tuple[Field, ...]:
        """Names and types of a query's columns."""
        described = self.run(f"select * from (\n{sql}\n) as described limit 0").description or ()
        return tuple(Field(name, spark_type(type_)) for name, type_, *_ in described)

    def content(self, sql: str, columns: Sequence[Field] | None = None) -> str:
        """Keep the rows of a query, cast to `columns` if they are given. Returns: the table's name."""
        name = f"content_{next(self._numbers)}"
        if columns is None:
            self.run(f"create table {name} as {sql}")
        else:
            self.empty(name, columns)
            self.run(f"insert into {name} {sql}")
        return name

    def empty(self, name: str, columns: Iterable[Field]) -> None:
        declared = ", ".join(f"{identifier(f.name)} {duckdb_type(f.type)}" for f in columns)
        self.run(f"create table {name} ({declared})")

    def new_name(self) -> str:
        return f"content_{next(self._numbers)}"

    def run(self, sql: str) -> duckdb.DuckDBPyConnection:
        """Raises: EngineError."""
        try:
            return self.connection.execute(sql)
        except duckdb.Error as error:
            raise EngineError(f"{error}\n{sql}") from None


def spark_type(type_: Any) -> str:
    """Spark's name of an embedded type."""
    kind = type_.id
    if kind == "decimal":
        (_, precision), (_, scale) = type_.children
        return f"decimal({precision},{scale})"
    if kind == "list":
        return f"array<{spark_type(type_.children[0][1])}>"
    if kind == "map":
        (_, key), (_, value) = type_.children
        return f"map<{spark_type(key)},{spark_type(value)}>"
    if kind == "struct":
        return f"struct<{','.join(f'{name}:{spark_type(child)}' for name, child in type_.children)}>"
    name = str(type_).lower()
    return _TYPES.get(name, name)


def duckdb_type(type_: str) -> str:
    return exp.DataType.build(type_, dialect="spark").sql("duckdb")


def identifier(name: str) -> str:
    return exp.to_identifier(name, quoted=True).sql("duckdb")


@lru_cache(maxsize=4096)
def _parsed(sql: str) -> exp.Expression:
    tree = sqlglot.parse_one(sql, dialect="spark")
    for hint in list(tree.find_all(exp.Hint)):
        hint.pop()
    return tree


def parsed(sql: str) -> exp.Expression:
    """Spark SQL as a tree of its own. Raises: EngineError for what the parser does not take."""
    try:
        return _parsed(sql).copy()
    except SqlglotError as error:
        raise EngineError(f"[PARSE_SYNTAX_ERROR] {error}", "PARSE_SYNTAX_ERROR") from None


def resolved(tree: exp.Expression, resolve: Resolve, now: str) -> exp.Expression:
    """The same tree over what its tables' names stand for; `now` is the date and time, as a text."""
    own = {cte.alias.lower() for cte in tree.find_all(exp.CTE)}
    for table in list(tree.find_all(exp.Table)):
        if not table.db and table.name.lower() in own and not table.args.get("version"):
            continue
        found = resolve(table)
        name = exp.to_identifier(table.name or "changes", quoted=True)
        alias = table.args.get("alias") or exp.TableAlias(this=name)
        found.set("alias", alias.copy())
        for part in ("joins", "laterals", "pivots", "sample"):
            if table.args.get(part):
                found.set(part, table.args[part])
        table.replace(found)
    for node in list(tree.find_all(exp.CurrentDate, exp.CurrentTimestamp)):
        type_ = "date" if isinstance(node, exp.CurrentDate) else "timestamp_ntz"
        node.replace(exp.cast(exp.Literal.string(now), type_, dialect="spark"))
    return tree
