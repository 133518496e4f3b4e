"""An Iceberg table described by SQL: its metadata file is read, and forgotten when the name means another table.

Its columns are those of the metadata, whatever somebody alters meanwhile.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from dbt.adapters.sparkivm.sql_catalog import SqlCatalog

from sparkivm.engine import EngineError, Row
from sparkivm.marker import Marker, Role, owner_of
from sparkivm.names import TableName
from tests.unit.test_iceberg_changes import FIRST, SCHEMA, snapshot, table

TABLE = TableName("shop", "t", "ice")


class Server:
    """Has one table of a provider, with the text of its metadata file."""

    def __init__(self, metadata: str) -> None:
        self.metadata, self.provider, self.ran = metadata, "iceberg", []
        self.columns = ["id", "x"]
        self.properties: Mapping[str, str] = {}

    def query(self, sql: str) -> list[Row]:
        self.ran.append(sql)
        if sql.startswith("describe table extended"):
            columns = [*((name, "int") for name in self.columns), ("", "")]
            facts = [("# Detailed Table Information", ""), ("Type", "MANAGED"), ("Provider", self.provider)]
            marker = ", ".join(f"{key}={value}" for key, value in self.properties.items())
            facts.append(("Table Properties", f"[{marker}]"))
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


WIDER = [*SCHEMA, {"id": 3, "name": "y", "type": "int"}]
RENAMED = [SCHEMA[0], {**SCHEMA[1], "name": "y"}]
ORDERED = SCHEMA[::-1]


class Altered(Server):
    """Somebody alters and writes the table at some statements: to each of these lists of columns in turn.

    at  the number of the first of these statements, from 0; the others follow in the next readings
    """

    def __init__(self, *schemas: Any, at: int) -> None:
        super().__init__("")
        self.moments = {at + 4 * number: schema for number, schema in enumerate(schemas)}
        self.schemas = [SCHEMA]
        self._write()

    def query(self, sql: str) -> list[Row]:
        if (schema := self.moments.get(len(self.ran))) is not None:
            self.schemas.append(schema)
            self._write()
        return super().query(sql)

    def _write(self) -> None:
        count = len(self.schemas)
        self.columns = [column["name"] for column in self.schemas[-1]]
        self.metadata = table(snapshot(count, 0, schema=count - 1), schemas=self.schemas)


@pytest.mark.parametrize(
    "schema", [WIDER, RENAMED, ORDERED, SCHEMA[:1]], ids=["added", "renamed", "moved", "dropped"]
)
@pytest.mark.parametrize("at", range(5))
def test_columns_that_are_altered_while_the_table_is_described(at, schema):
    server = Altered(schema, at=at)
    found = SqlCatalog(server.query).describe(TABLE)
    now = schema if at < 4 else SCHEMA
    assert (found.kind, found.version) == ("iceberg", 2 if at < 4 else 1)
    assert [field.name for field in found.fields] == [column["name"] for column in now]
    assert len(server.ran) == (8 if 0 < at < 4 else 4)


@pytest.mark.parametrize("ours", [False, True])
def test_columns_that_are_altered_each_time(ours):
    server = Altered(WIDER, SCHEMA, RENAMED, at=1)
    if ours:
        server.properties = Marker(owner_of("shop", "model.shop.t", TABLE), Role.STATE).properties
        with pytest.raises(EngineError, match="changed each time"):
            SqlCatalog(server.query).describe(TABLE)
    else:
        assert SqlCatalog(server.query).describe(TABLE).kind == "other"
    assert len(server.ran) == 12
