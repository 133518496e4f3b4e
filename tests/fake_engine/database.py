"""The embedded engine: takes Spark SQL, returns rows and Spark's type names."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import duckdb
import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from sparkivm.engine import EngineError, Field
from tests.fake_engine.spark_functions import use_duckdb_terms

# Spark functions that sqlglot does not translate.
_FUNCTIONS = (
    "array_repeat(v, n) as [v for i in range(n)]",
    "unix_micros(t) as epoch_us(t)",
    "timestamp_micros(n) as make_timestamp(n)",
    "raise_error(message) as error(message)",
    "assert_true(c) as case when c then null else error('this is not true') end, "
    "(c, message) as case when c then null else error(message) end",
    "count_if(c) as count(case when c then 1 end)",  # DuckDB's may be NULL
)
_TYPES = {
    "hugeint": "bigint",  # the type of a sum of integers
    "integer": "int",
    "varchar": "string",
    "blob": "binary",
    "null": "void",
    '"null"': "void",
    "timestamp with time zone": "timestamp",
    "timestamp": "timestamp_ntz",
}


class Database:
    """One connection. `content` names immutable tables, each with the rows of one table version."""

    def __init__(self) -> None:
        self.connection = duckdb.connect(config={"threads": 1})
        # There are few rows; planning takes most of the time.
        self.connection.execute("pragma disable_optimizer")
        self.connection.execute("set timezone = 'UTC'")
        for function in _FUNCTIONS:
            self.connection.execute(f"create macro {function}")
        self._numbers = itertools.count()

    def rows(self, sql: str) -> list[dict[str, Any]]:
        found = self.run(sql)
        names = [name for name, *_ in found.description or ()]
        return [dict(zip(names, row, strict=True)) for row in found.fetchall()]

    def fields(self, sql: str) -> tuple[Field, ...]:
        """Names and types of a query's columns."""
        try:
            described = self.connection.sql(sql)  # runs when its rows are fetched
        except duckdb.Error as error:
            raise EngineError(f"{error}\n{sql}") from None
        return tuple(Field(n, spark_type(t)) for n, t in zip(described.columns, described.types, strict=True))

    def release(self, first: str) -> None:
        """Drop the tables made since this name was given out."""
        for number in range(int(first.rpartition("_")[2]), int(self.new_name().rpartition("_")[2])):
            self.connection.execute(f"drop table if exists content_{number}")

    def content(self, sql: str, columns: Sequence[Field] | None = None) -> str:
        """Store a query's rows, cast to `columns` if given. Returns: the table's name."""
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
    """Spark's name for a type of the embedded engine."""
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


@lru_cache
def duckdb_type(type_: str) -> str:
    return exp.DataType.build(type_, dialect="spark").sql("duckdb")


def identifier(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


@dataclass(frozen=True)
class Reference:
    """A table in a query: the parts of its name that are given, and its version or its call."""

    catalog: str
    schema: str
    name: str
    version: int | None = None
    function: str = ""
    arguments: tuple[str, ...] = ()


@dataclass(frozen=True)
class Template:
    """A query for the embedded engine, with placeholders for its tables and the time."""

    text: str
    references: tuple[Reference, ...]

    def filled(self, resolve: Callable[[Reference], str], now: str) -> str:
        """The query with each table replaced by what it stands for."""
        text = self.text.replace(_NOW, now)
        for number, reference in enumerate(self.references):
            text = text.replace(_mark(number), resolve(reference))
        return text


_NOW = "__now__"


def _mark(number: int) -> str:
    return f"__table_{number}__"


def template(tree: exp.Expression) -> Template:
    """Uses up the tree."""
    own = {cte.alias.lower() for cte in tree.find_all(exp.CTE)}
    references: list[Reference] = []
    for table in list(tree.find_all(exp.Table)):
        version = table.args.get("version")
        if not table.db and table.name.lower() in own and not version:
            continue
        if not table.args.get("alias"):
            name = exp.to_identifier(table.name or "changes", quoted=True)
            table.set("alias", exp.TableAlias(this=name))
        call = table.this if isinstance(table.this, exp.Anonymous) else None
        references.append(
            Reference(
                table.catalog,
                table.db,
                table.name,
                int(version.expression.name) if version else None,
                call.name.lower() if call else "",
                tuple(argument.name for argument in call.expressions) if call else (),
            )
        )
        table.set("this", exp.to_identifier(_mark(len(references) - 1)))
        for part in ("db", "catalog", "version"):
            table.set(part, None)
    for node in list(tree.find_all(exp.CurrentDate, exp.CurrentTimestamp)):
        type_ = "date" if isinstance(node, exp.CurrentDate) else "timestamp"
        node.replace(exp.cast(exp.Literal.string(_NOW), type_, dialect="spark"))
    use_duckdb_terms(tree)
    return Template(tree.sql("duckdb", copy=False), tuple(references))


@lru_cache(maxsize=4096)
def query_template(sql: str) -> Template:
    """Raises: EngineError if the text is not a query."""
    tree = parsed(sql)
    if not isinstance(tree, exp.Query):
        raise EngineError(f"[PARSE_SYNTAX_ERROR] this is no query: {sql}")
    return template(tree)


@lru_cache(maxsize=4096)
def reprinted(sql: str) -> str:
    """Spark SQL parsed and printed again."""
    return parsed(parsed(sql).sql("spark")).sql("spark", normalize_functions="lower", comments=False)


def parsed(sql: str) -> exp.Expression:
    """Spark SQL as a tree of its own. Raises: EngineError if the parser refuses it."""
    return _tree(sql).copy()


@lru_cache(maxsize=512)
def _tree(sql: str) -> exp.Expression:
    """The tests run the same statements again and again."""
    try:
        tree = sqlglot.parse_one(sql, dialect="spark")
    except SqlglotError as error:
        raise EngineError(f"[PARSE_SYNTAX_ERROR] {error}", "PARSE_SYNTAX_ERROR") from None
    for hint in list(tree.find_all(exp.Hint)) if "/*+" in sql else ():
        hint.pop()
    return tree
