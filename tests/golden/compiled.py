"""A compiled query over TPC-H; an embedded engine provides the types of its columns."""

from __future__ import annotations

from types import SimpleNamespace

import duckdb
from sqlglot import exp

from sparkivm.algebra import Relation
from sparkivm.algebra.moment import function_of
from sparkivm.engine import Field
from sparkivm.frontend.parse import parse_model
from sparkivm.frontend.query import read_query
from sparkivm.plan.compile_model import ViewPlan, compile_query
from sparkivm.spark.data_types import SparkType
from sparkivm.spark_sql.relations import select_text
from tests.duckdb_dialect import DUCKDB
from tests.golden.tpch import TABLES


class Catalog:
    """The TPC-H tables, registered as `tpch.<table>`."""

    def lookup(self, parts: tuple[str, ...], namespace: tuple[str, ...]) -> SimpleNamespace:
        fields = tuple(Field(name, type_) for name, type_ in TABLES[parts[-1]])
        return SimpleNamespace(kind="delta", key=f"tpch.{parts[-1]}", fields=fields)


class Empty:
    """SourceTexts of tables without rows, to get types from the embedded engine."""

    def new(self, table: str) -> str:
        return table

    old = new

    def changes(self, table: str, fields: object) -> str:
        raise AssertionError("only types are asked for")

    def moment(self, key: str, before: bool) -> exp.Expr:
        return function_of(key)


def new_engine() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    connection.execute("create schema tpch; set schema = 'tpch'")
    for table, columns in TABLES.items():
        declared = ", ".join(f"{name} {type_.replace('string', 'varchar')}" for name, type_ in columns)
        connection.execute(f"create table tpch.{table} ({declared})")
    return connection


def compiled(engine: duckdb.DuckDBPyConnection, sql: str) -> ViewPlan:
    tree = parse_model("model", sql)

    def types_of(relation: Relation) -> tuple[SparkType, ...]:
        return tuple(field.spark_type for field in _fields(engine, select_text(relation, Empty(), DUCKDB)))

    return compile_query(read_query(tree, Catalog()), _fields(engine, tree.sql("duckdb")), types_of)


def _fields(engine: duckdb.DuckDBPyConnection, sql: str) -> tuple[Field, ...]:
    names = engine.execute(f"select * from ({sql}) as q limit 0").description or []
    return tuple(Field(name, str(type_).lower().replace("varchar", "string")) for name, type_, *_ in names)
