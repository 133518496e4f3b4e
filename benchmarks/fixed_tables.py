"""The tables of suite `fixed`, in any size: facts, and one tenth as many customers."""

from __future__ import annotations

from pyspark.sql import SparkSession

from benchmarks.statements import Statements

_ROWS_PER_FILE = 250_000

# A different row each time.
UPDATE = Statements(
    "one row updated", ("update {schema}.facts set amount = amount + 1 where id = {number} % 1000",)
)
INSERT = Statements(
    "one row inserted",
    (
        "insert into {schema}.facts "
        "values (1000000000 + {number}, {number} % 100, {number} % 10, 12.50, 3, date'2025-06-01')",
    ),
)


def load(spark: SparkSession, schema: str, rows: int) -> None:
    """Create both tables again, with their change data feeds on."""
    files = max(1, rows // _ROWS_PER_FILE)
    session = spark.newSession()
    session.sql(f"drop schema if exists {schema} cascade")
    session.sql(f"create schema {schema}")
    for table, columns in (
        (
            "facts",
            "id, id % {customers} as customer_id, cast(id % 10 as int) as category, "
            "cast(id % 1000 / 4 as decimal(12, 2)) as amount, cast(id % 7 as int) as quantity, "
            "date_add(date'2025-01-01', cast(id % 365 as int)) as at",
        ),
        (
            "customers",
            "id, concat('customer ', id) as name, "
            "element_at(array('north', 'east', 'south', 'west'), cast(id % 4 + 1 as int)) as region",
        ),
    ):
        n_rows = rows if table == "facts" else rows // 10
        n_files = files if table == "facts" else 1
        session.sql(
            f"create table {schema}.{table} using delta tblproperties (delta.enableChangeDataFeed = true) "
            f"as select {columns.format(customers=rows // 10)} from range(0, {n_rows}, 1, {n_files})"
        )
