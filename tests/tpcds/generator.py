"""The package `duckdb-extension-tpcds`: TPC-DS's data generator and its 99 queries."""

from __future__ import annotations

from pathlib import Path

import duckdb
import duckdb_extension_tpcds

NUMBERS = range(1, 100)  # of the queries


def connection() -> duckdb.DuckDBPyConnection:
    """An empty database with `dsdgen` and `tpcds_queries`."""
    (extension,) = Path(duckdb_extension_tpcds.__file__).parent.rglob("tpcds.duckdb_extension")
    result = duckdb.connect()
    result.execute("set enable_progress_bar = false")
    result.execute(f"load '{extension}'")
    return result


def create_tables(database: duckdb.DuckDBPyConnection, scale: float = 0) -> dict[str, dict[str, str]]:
    """Make the 24 tables; at scale 0 they are empty.

    Returns: column → DuckDB's type, by table.
    """
    database.execute(f"call dsdgen(sf = {scale})")
    columns = database.execute(
        "select table_name, column_name, data_type from duckdb_columns() where not internal "
        "order by table_name, column_index"
    ).fetchall()
    result: dict[str, dict[str, str]] = {}
    for table, column, type_ in columns:
        result.setdefault(table, {})[column] = type_
    return result


def query_texts() -> dict[int, str]:
    """The queries in DuckDB's SQL, by number."""
    found = connection().execute("select query_nr, query from tpcds_queries() order by 1").fetchall()
    assert [number for number, _ in found] == list(NUMBERS)
    return {number: text.strip().rstrip(";") for number, text in found}
