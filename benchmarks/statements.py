"""Changes as plain SQL statements, and the number of rows that each changed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from pyspark.sql import SparkSession


@dataclass(frozen=True)
class Statements:
    """A batch of INSERT, UPDATE, DELETE and MERGE statements, the same each time except for its number.

    In their texts `{schema}` is the schema of the sources and `{number}` counts the batches from 1.
    """

    name: str
    texts: tuple[str, ...] = ()


NOTHING = Statements("nothing changed")


@dataclass(frozen=True)
class RowCounts:
    """Rows changed in the sources by one batch."""

    inserted: int = 0
    updated: int = 0
    deleted: int = 0

    def __add__(self, other: RowCounts) -> RowCounts:
        inserted, updated = self.inserted + other.inserted, self.updated + other.updated
        return RowCounts(inserted, updated, self.deleted + other.deleted)

    def __str__(self) -> str:
        return f"+{self.inserted:,} ~{self.updated:,} -{self.deleted:,} rows"


class StatementChanges:
    """Changes the tables of one schema, in a session of its own."""

    def __init__(self, spark: SparkSession, schema: str) -> None:
        self.session = spark.newSession()
        # With small input splits a DELETE keeps the number of files; otherwise it writes one per core.
        self.session.conf.set("spark.sql.files.maxPartitionBytes", "16m")
        self.schema = schema
        self.batches = 0

    def apply(self, change: Statements) -> RowCounts:
        """Apply the next batch, one commit per statement."""
        self.batches += 1
        counts = RowCounts()
        for text in change.texts:
            counts += self.run(text.format(schema=self.schema, number=self.batches))
        return counts

    def run(self, statement: str) -> RowCounts:
        """Execute one statement and count its rows according to Delta's history."""
        target = _TARGET.search(statement)
        assert target is not None, statement
        self.session.sql(statement)
        (commit,) = self.session.sql(f"describe history {target[1]} limit 1").collect()
        return row_counts(commit.operation, commit.operationMetrics)

    def forget_snapshots(self) -> None:
        """Let the next reader of each table load its log, as after a commit of another process.

        Spark has one cache of Delta's logs for all its sessions.
        """
        jvm = self.session._jvm
        assert jvm is not None
        for location in self._locations:
            path = jvm.org.apache.hadoop.fs.Path(location)
            jvm.org.apache.spark.sql.delta.DeltaLog.invalidateCache(self.session._jsparkSession, path)

    @cached_property
    def _locations(self) -> list[str]:
        """Of the tables, which are loaded before the first arm."""
        found = self.session.sql(f"show tables in {self.schema}").collect()
        tables = [row.tableName for row in found if not row.isTemporary]
        details = (self.session.sql(f"describe detail {self.schema}.{table}") for table in tables)
        return [row.location for detail in details for row in detail.select("location").collect()]


_TARGET = re.compile(r"(?:insert into|delete from|update|merge into)\s+(\S+)")


def row_counts(operation: str, metrics: Mapping[str, str]) -> RowCounts:
    """The rows that one commit changed, from Delta's metrics."""

    def count(name: str) -> int:
        return int(metrics.get(name, 0))

    match operation:
        case "WRITE":
            return RowCounts(inserted=count("numOutputRows"))
        case "UPDATE":
            return RowCounts(updated=count("numUpdatedRows"))
        case "DELETE":
            return RowCounts(deleted=count("numDeletedRows"))
        case _:
            return RowCounts(
                count("numTargetRowsInserted"), count("numTargetRowsUpdated"), count("numTargetRowsDeleted")
            )
