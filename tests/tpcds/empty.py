"""The TPC-DS tables without rows, to compile queries over them."""

from __future__ import annotations

from functools import cache

from sparkivm.engine import Field
from sparkivm.frontend.parse import parse_model
from sparkivm.frontend.query import read_query
from sparkivm.plan.compile_model import ViewPlan, compile_query
from sparkivm.spark_sql.relations import select_text
from tests.duckdb_dialect import DUCKDB
from tests.fuzz.embedded import Catalog, Embedded, Sources, new_connection, spark_type
from tests.tpcds.generator import connection, create_tables
from tests.tpcds.queries import model


@cache
def compiled_model(number: int) -> ViewPlan:
    """A query's plan. Raises: NotIncremental."""
    return _engine().compiled(model(number))


@cache
def _engine() -> EmptyTpcds:
    return EmptyTpcds()


class EmptyTpcds(Embedded):
    def __init__(self) -> None:
        columns = create_tables(connection())
        tables = {
            table: tuple(Field(name, spark_type(type_)) for name, type_ in types.items())
            for table, types in columns.items()
        }
        super().__init__(new_connection(), Catalog(tables))
        for table, types in columns.items():
            declared = ", ".join(f"{name} {type_}" for name, type_ in types.items())
            self.execute(f"create table {table} ({declared})")
            self.execute(f"create view {table}_0 as from {table}")

    def compiled(self, sql: str) -> ViewPlan:
        """A query's plan. Raises: NotIncremental."""
        tree = parse_model("model", sql)
        return compile_query(
            read_query(tree, self.catalog),
            self.fields(tree.sql(dialect="duckdb")),
            lambda relation: tuple(
                f.spark_type for f in self.fields(select_text(relation, Sources(0), DUCKDB))
            ),
        )
