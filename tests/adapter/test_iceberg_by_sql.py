"""An Iceberg table described by SQL: its metadata file is read, and forgotten when the name means another table."""

from __future__ import annotations

import pytest
from dbt.adapters.sparkivm.sql_catalog import SqlCatalog

from sparkivm.engine import EngineError, Row
from sparkivm.names import TableName
from tests.unit.test_iceberg_changes import FIRST, snapshot, table

TABLE = TableName("shop", "t", "ice")


class Server:
    """Has one table of a provider, with the text of its metadata file."""

    def __init__(self, metadata: str) -> None:
        self.metadata, self.provider, self.ran = metadata, "iceberg", []

    def query(self, sql: str) -> list[Row]:
        self.ran.append(sql)
        if sql.startswith("describe table extended"):
            columns = [("id", "int"), ("x", "double"), ("", "")]
            facts = [("# Detailed Table Information", ""), ("Type", "MANAGED"), ("Provider", self.provider)]
            return [{"col_name": name, "data_type": text} for name, text in (*columns, *facts)]
        if sql.endswith("metadata_log_entries"):
            return [{"file": "/v1.metadata.json"}, {"file": "/v2.metadata.json"}]
        if sql.startswith("select value from text.`/v2"):
            return [{"value": self.metadata}]
        if sql.startswith("refresh table"):
            return []
        raise EngineError(f"no answer to {sql}")


def test_what_the_newest_metadata_file_says():
    server = Server(table(FIRST, snapshot(2, 1)))
    catalog = SqlCatalog(server.query)
    found = catalog.describe(TABLE)
    assert (found.kind, found.version, found.snapshot) == ("iceberg", 2, 1002)
    assert [commit.version for commit in catalog.commits(TABLE, 0)] == [1, 2]
    assert server.ran == [
        "describe table extended `ice`.`shop`.`t`",
        "refresh table `ice`.`shop`.`t`",  # before the file is read
        "select file from `ice`.`shop`.`t`.metadata_log_entries",
        "select value from text.`/v2.metadata.json`",
    ]


def test_a_table_that_cannot_be_read_so_has_no_versions():
    assert SqlCatalog(Server("no JSON").query).describe(TABLE).kind == "other"


def test_another_table_of_its_name_has_commits_of_its_own():
    server = Server(table(FIRST))
    catalog = SqlCatalog(server.query)
    assert catalog.describe(TABLE).kind == "iceberg"
    server.provider = "parquet"
    assert catalog.describe(TABLE).kind == "other"
    with pytest.raises(EngineError, match="describe history"):
        catalog.commits(TABLE, 0)
