"""A Delta table described by SQL: its columns are those of its version, whatever somebody writes meanwhile."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime, timedelta, timezone

import pytest
from dbt.adapters.sparkivm.sql_catalog import SqlCatalog

from sparkivm.engine import EngineError, Row
from sparkivm.names import TableName

TABLE = TableName("s", "t")
START = datetime(2024, 1, 1, tzinfo=timezone.utc)
PLANS = """\
== Analyzed Logical Plan ==
      +- Project [static_invoke(CharVarcharCodegenUtils.readSidePadding(x0#1, 3)) AS x0#5, x1#2]
== Optimized Logical Plan ==
== Physical Plan =="""
# What EXPLAIN may say of a query that Spark cannot analyze: the second one is two rows.
FAILURES = (
    "== Analyzed Logical Plan ==\norg.apache.spark.sql.AnalysisException: Number of column aliases",
    "Error occurred during query planning: \nNumber of column aliases",
)


class Server:
    """Has one table with a column more than its version says. Somebody appends and adds a column at a statement.

    at  the number of this statement, from 0
    """

    def __init__(self, at: int = -1, failure: str = FAILURES[0]) -> None:
        self.at, self.failure, self.version = at, failure, 1
        self.ran: list[str] = []

    def query(self, sql: str) -> list[Row]:
        if len(self.ran) == self.at:
            self.version += 1
        self.ran.append(sql)
        columns, time = self.version + 1, START + timedelta(seconds=self.version)
        match sql.split()[:2]:
            case ["describe", "table"]:
                names = [(f"x{i}", "string") for i in range(columns)]
                facts = [("", ""), ("# Detailed Table Information", ""), ("Provider", "delta")]
                return [{"col_name": name, "data_type": text} for name, text in (*names, *facts)]
            case ["describe", "history"]:
                of_commit = {"operationMetrics": {}, "operationParameters": {}, "userMetadata": None}
                return [{"version": self.version, "timestamp": time, "operation": "WRITE", **of_commit}]
            case ["explain", "extended"]:
                (aliases,) = re.findall(r"q\((.*)\)", sql)
                if aliases.count(",") + 1 == columns:
                    return [{"plan": PLANS}]
                return [{"plan": row} for row in self.failure.split(" \n")]
            case ["describe", "detail"]:
                known = {"id": "the id", "sizeInBytes": 1, "numFiles": 1, "properties": {}}
                return [{**known, "lastModified": time, "partitionColumns": []}]
        raise AssertionError(sql)


def test_four_statements_if_nobody_writes():
    server = Server()
    found = SqlCatalog(server.query).describe(TABLE)
    assert (found.kind, found.version, found.table_id) == ("delta", 1, "the id")
    assert [(field.name, field.char_length) for field in found.fields] == [("x0", 3), ("x1", None)]
    assert [" ".join(sql.split()[:2]) for sql in server.ran] == [
        "describe table", "describe history", "explain extended", "describe detail",
    ]  # fmt: skip


def test_the_commit_of_its_version_needs_no_other_statement():
    """It has the id that the table's history gives it. Facts of the table at another version do not have it."""
    server = Server()
    catalog = SqlCatalog(server.query)
    found = catalog.describe(TABLE)
    assert [found.commit] == catalog.commits(TABLE, 0)
    assert len(server.ran) == 5
    assert replace(found, version=0, commit_id="another").commit is None


def test_commits_after_the_described_one_are_asked_for():
    server = Server()
    catalog = SqlCatalog(server.query)
    assert catalog.describe(TABLE).version == 1
    server.version += 1
    for after in (0, 1):
        assert catalog.commits(TABLE, after)[-1].version == 2


@pytest.mark.parametrize("at", range(5))
@pytest.mark.parametrize("failure", FAILURES, ids=["a section less", "no plans"])
def test_a_column_that_is_added_while_the_table_is_described(at, failure):
    found = SqlCatalog(Server(at, failure).query).describe(TABLE)
    assert (found.version, len(found.fields)) == ((2, 3) if at < 4 else (1, 2))


@pytest.mark.parametrize("failure", FAILURES, ids=["a section less", "no plans"])
def test_a_table_that_spark_cannot_analyze(failure):
    server = Server(failure=failure)
    server.version = -1  # without columns, which our query cannot name
    with pytest.raises(EngineError, match="Number of column aliases"):
        SqlCatalog(server.query).describe(TABLE)
