"""A second driver: a process with its own JVM, which finds tables by their locations.

stdin   one line per refresh
stdout  `ready`, then the mode of each refresh
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from dbt.adapters.sparkivm.session import start
from dbt.adapters.sparkivm.session_defaults import session_settings
from pyspark.sql import SparkSession

from sparkivm.marker import owner_of
from sparkivm.names import TableName
from sparkivm.refresh.refresh_view import refresh_view
from sparkivm.refresh.request import RefreshRequest, StateLayout
from sparkivm.refresh.sources.pins import Pins
from tests.plain_engine import PlainEngine

SETTINGS = {
    "spark.master": "local[1]",
    "spark.driver.memory": "1g",
    "spark.sql.catalogImplementation": "in-memory",
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.ansi.enabled": os.environ.get("SPARKIVM_ANSI", "true"),
}


def request(schema: str, sql: str, tables: Path) -> RefreshRequest:
    """The request, equal in both processes."""
    view = TableName(schema, "m")
    return RefreshRequest(
        view,
        sql,
        owner_of("lab", "model.lab.m", view),
        "incremental",
        layout=StateLayout(location_root=str(tables)),
    )


def main(schema: str, sql: str, tables: Path, scratch: Path) -> None:
    start(session_settings(SETTINGS, scratch), scratch)
    engine = PlainEngine(SparkSession.builder.getOrCreate())
    engine.session.sql(f"create schema {schema}")
    for name in ("t", "m__ivm"):
        engine.session.sql(f"create table {schema}.{name} using delta location '{tables / name}'")
    print("ready", flush=True)
    for _ in sys.stdin:
        print(refresh_view(engine, request(schema, sql, tables), Pins()).mode, flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], Path(sys.argv[3]), Path(sys.argv[4]))
