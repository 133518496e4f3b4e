"""A Delta table: its versions, each with a commit, and the transaction numbers of its writers."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sparkivm.engine import Commit, EngineError, Field
from sparkivm.names import TableName

FEED = "delta.enableChangeDataFeed"
MAPPING = "delta.columnMapping.mode"


@dataclass(frozen=True)
class Version:
    """The result of one commit.

    content  the table that holds its rows
    changes  its feed, a query with `_change_type`; None if no row changed
    in_log   whether the log still has its commit
    has_files  whether the files of its rows still exist
    """

    commit: Commit
    table_id: str
    content: str
    fields: tuple[Field, ...]
    properties: Mapping[str, str]
    changes: str | None = None
    in_log: bool = True
    has_files: bool = True

    @property
    def number(self) -> int:
        return self.commit.version


@dataclass
class DeltaTable:
    name: TableName
    versions: list[Version] = field(default_factory=list)
    partition_columns: tuple[str, ...] = ()
    transactions: dict[str, int] = field(default_factory=dict)  # each application's last number
    location: str = ""  # of its files, which survive a DROP; "" if Spark manages the table

    def fork(self) -> DeltaTable:
        return replace(self, versions=list(self.versions), transactions=dict(self.transactions))

    @property
    def newest(self) -> Version:
        return self.versions[-1]

    @property
    def history(self) -> list[Commit]:
        """The commits still in the log, oldest first."""
        return [version.commit for version in self.versions if version.in_log]

    def at(self, number: int) -> Version:
        """Raises: EngineError if the version or its files are missing."""
        found = next((version for version in self.versions if version.number == number), None)
        if found is None:
            raise _error("DELTA_VERSION_NOT_FOUND", f"{self.name} has no version {number}")
        if not found.has_files:
            raise _error("FAILED_READ_FILE", f"a file of version {number} of {self.name} is gone")
        return found

    def feed(self, first: int, last: int) -> Iterator[Version]:
        """The versions in [first, last] that have changes. Like Delta, silently omits those that the log lacks.

        Raises: EngineError if the feed was not always on, or if files are missing.
        """
        for version in self.versions:
            if not first <= version.number <= last or not version.in_log:
                continue
            if version.properties.get(FEED, "").lower() != "true":
                raise _error("DELTA_MISSING_CHANGE_DATA", f"version {version.number} of {self.name}")
            if version.changes is not None:
                self.at(version.number)
                yield version

    def add(
        self,
        operation: str,
        timestamp_ms: int,
        *,
        content: str,
        fields: Sequence[Field],
        properties: Mapping[str, str] | None = None,
        metrics: Mapping[str, object] | None = None,
        parameters: Mapping[str, object] | None = None,
        user_metadata: str | None = None,
        changes: str | None = None,
        new_id: bool = False,
    ) -> Version:
        """Commit a version."""
        before = self.versions[-1] if self.versions else None
        commit = Commit(
            before.number + 1 if before else 0,
            timestamp_ms,
            operation,
            {name: str(value) for name, value in (metrics or {}).items()},
            {n: v if isinstance(v, str) else json.dumps(v) for n, v in (parameters or {}).items()},
            user_metadata,
            f"transaction:{uuid.uuid4().hex}",
        )
        table_id = uuid.uuid4().hex if new_id or before is None else before.table_id
        if properties is None:
            properties = before.properties if before else {}
        if properties.get(MAPPING, "none").lower() != "none":
            fields = [f if f.mapped_to else replace(f, mapped_to=uuid.uuid4().hex) for f in fields]
        version = Version(commit, table_id, content, tuple(fields), dict(properties), changes)
        self.versions.append(version)
        return version

    def change(self, number: int, **what: object) -> None:
        """Change one version's record, as damage or retention does."""
        index = next(i for i, version in enumerate(self.versions) if version.number == number)
        self.versions[index] = replace(self.versions[index], **what)  # type: ignore[arg-type]


def _error(condition: str, text: str) -> EngineError:
    return EngineError(f"[{condition}] {text}", condition)
