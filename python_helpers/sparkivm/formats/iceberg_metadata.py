"""The metadata file of an Iceberg table: its columns and snapshots, and how to read its newest version.

Files that were imported (`migrate`, `add_files`) have no ids of columns. Iceberg finds their columns by the
names in a table property, as it is now, also in old snapshots. So what this property says belongs to the
identity of a column and of a commit.

source  https://iceberg.apache.org/spec/#table-metadata-fields
tested  tests/unit/test_iceberg_changes.py
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from sparkivm.digest import digest
from sparkivm.engine import SNAPSHOT, Commit, Field, RelationFacts, SnapshotTag
from sparkivm.names import TableName, quoted

# Parameters of a commit: the parent snapshot (0 for none), and its columns with their identities.
PARENT, _COLUMNS = "parent", "columns"
FRONTIER = "sparkivm"  # property of snapshots that a refresh wrote
COMPACTION = "replace"  # operation of a snapshot with new files and the same rows
_FILES = ("added-data-files", "deleted-data-files", "added-delete-files", "removed-delete-files")
_MAIN = "main"
_OLDEST_FORMAT = 2
_NAME_MAPPING = "schema.name-mapping.default"


def keeps_rows(commit: Commit) -> bool:
    """Whether a snapshot has its parent's rows: a compaction, or a commit of no files."""
    if commit.operation == COMPACTION:
        return True
    counted = commit.count("total-data-files") is not None  # otherwise it reports no files at all
    return counted and not any(map(commit.count, _FILES))


class NotReadable(Exception):
    """A table whose versions cannot be read from its metadata; the text says why."""


@dataclass(frozen=True)
class IcebergMetadata:
    """One metadata file, parsed."""

    values: Mapping[str, Any]

    @staticmethod
    def parse(text: str) -> IcebergMetadata:
        """Raises: NotReadable."""
        values = json.loads(text)
        if values["format-version"] < _OLDEST_FORMAT:
            raise NotReadable("it has format 1; use ALTER TABLE … SET TBLPROPERTIES ('format-version' = '2')")
        return IcebergMetadata(values)

    @property
    def newest(self) -> int:
        """The snapshot that readers see; 0 if the table was never written."""
        main = self.values.get("refs", {}).get(_MAIN, {}).get("snapshot-id")
        return int(main or max(0, self.values.get("current-snapshot-id") or 0))

    @property
    def names(self) -> list[str]:
        """Of its columns now."""
        return [column["name"] for column in self._newest_columns]

    def facts(self, name: TableName, fields: Sequence[Field]) -> RelationFacts:
        """fields  its columns as Spark reports them: those of `names`

        Raises: NotReadable.
        """
        ids = {column["name"]: column for column in self._newest_columns}
        found = RelationFacts(
            name,
            "iceberg",
            tuple(replace(field, mapped_to=self._identity(ids[field.name])) for field in fields),
            table_id=str(self.values["table-uuid"]),
            commit_id=self._commit_id,
            properties=self._properties,
            provider="iceberg",
            version=0,
            size_bytes=0,
            files=0,
            snapshots=len(self._snapshots),
            tags=self._tags,
        )
        if not self.newest:
            return replace(found, read_as=nothing_of(name))
        snapshot = self._snapshots[self.newest]
        size, files = (snapshot["summary"].get(f"total-{what}") for what in ("files-size", "data-files"))
        return replace(
            found,
            version=_sequence_number(snapshot),
            size_bytes=int(size) if size is not None else None,
            files=int(files) if files is not None else None,
            read_as=self._projected(found),
        )

    def commits(self, after: int) -> list[Commit]:
        """The existing snapshots above a sequence number, oldest first, including those of branches."""
        later = {n: one for n, one in self._snapshots.items() if _sequence_number(one) > after}
        return sorted((self._commit(*one) for one in later.items()), key=lambda commit: commit.version)

    def _commit(self, number: int, snapshot: Mapping[str, Any]) -> Commit:
        summary = dict(snapshot["summary"])
        frontier = summary.pop(FRONTIER, None)
        own = self._identities.get(int(snapshot.get("schema-id", -1)), {})
        return Commit(
            version=_sequence_number(snapshot),
            timestamp_ms=int(snapshot["timestamp-ms"]),
            operation=str(summary.pop("operation", "")),
            metrics=summary,
            parameters={PARENT: str(snapshot.get("parent-snapshot-id") or 0), _COLUMNS: json.dumps(own)},
            user_metadata=frontier,
            id=f"{SNAPSHOT}:{number}",
        )

    @cached_property
    def _identities(self) -> Mapping[int, Mapping[str, str]]:
        """For each schema the identities of its columns, by their names in lower case."""
        return {
            int(schema["schema-id"]): {
                column["name"].lower(): self._identity(column) for column in schema["fields"]
            }
            for schema in self.values["schemas"]
        }

    def _identity(self, column: Mapping[str, Any]) -> str:
        """A hash of the ids of a column and its nested fields; renaming does not change it."""
        ids = _ids(column)
        named = [(id_, self._mapped[id_]) for id_ in _field_ids(column) if id_ in self._mapped]
        return digest(repr((ids, named) if named else ids))

    @property
    def _commit_id(self) -> str:
        commit = f"{SNAPSHOT}:{self.newest}:{self.values['current-schema-id']}"
        return f"{commit}:{digest(repr(sorted(self._mapped.items())))}" if self._mapped else commit

    @property
    def _properties(self) -> Mapping[str, str]:
        return dict(self.values.get("properties", {}))

    @cached_property
    def _mapped(self) -> Mapping[int, Sequence[str]]:
        """The names of columns in files without ids, by the ids of columns; {} if no file was imported.

        Raises: NotReadable.
        """
        text = self._properties.get(_NAME_MAPPING, "[]")
        try:
            return dict(_names_by_id(json.loads(text)))
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise NotReadable(f"its property {_NAME_MAPPING} is {text}") from error

    @cached_property
    def _snapshots(self) -> Mapping[int, Mapping[str, Any]]:
        return {int(one["snapshot-id"]): one for one in self.values.get("snapshots", ())}

    @property
    def _tags(self) -> Mapping[str, SnapshotTag]:
        refs = self.values.get("refs", {})
        return {name: self._tag(ref) for name, ref in refs.items() if ref["type"] == "tag"}

    def _tag(self, ref: Mapping[str, Any]) -> SnapshotTag:
        """Iceberg counts the age of a tag from the time of its snapshot."""
        snapshot, age_ms = int(ref["snapshot-id"]), ref.get("max-ref-age-ms")
        made_ms = int(self._snapshots[snapshot]["timestamp-ms"])
        return SnapshotTag(snapshot, None if age_ms is None else made_ms + int(age_ms))

    @property
    def _newest_columns(self) -> Sequence[Mapping[str, Any]]:
        return self._columns(self.values["current-schema-id"])

    def _columns(self, schema: int) -> Sequence[Mapping[str, Any]]:
        found = next(one for one in self.values["schemas"] if one["schema-id"] == schema)
        return found["fields"]  # type: ignore[no-any-return]

    def _projected(self, table: RelationFacts) -> str:
        """A FROM item for the newest version after columns were altered: VERSION AS OF has the old columns.

        Raises: NotReadable.
        """
        snapshot, current = self._snapshots[self.newest], self.values["current-schema-id"]
        own = snapshot.get("schema-id", current)
        if own == current:
            return ""
        before = {column["id"]: column for column in self._columns(own)}
        columns = {column["name"]: column for column in self._newest_columns}
        items = []
        for field in table.fields:
            column = columns[field.name]
            if column["id"] in before:
                former = before[column["id"]]
                if former["type"] != column["type"] and not isinstance(column["type"], str):
                    raise NotReadable(f"{field.name} was altered after the newest snapshot")
                text = quoted(former["name"])
            elif "initial-default" in column:
                raise NotReadable(f"{field.name} has a default and was added after the newest snapshot")
            elif column["id"] in self._mapped:
                raise NotReadable(
                    f"{field.name} was added after the newest snapshot; imported files may have it"
                )
            else:
                text = "null"
            items.append(f"cast({text} as {field.spark_type.cast_text}) as {quoted(field.name)}")
        return f"(select {', '.join(items)} from {table.name.sql} version as of {self.newest})"


def _sequence_number(snapshot: Mapping[str, Any]) -> int:
    """0 for a snapshot that was written in format 1."""
    return int(snapshot.get("sequence-number", 0))


def columns_of_commit(commit: Commit) -> Mapping[str, str]:
    """The identities of a snapshot's columns, by their names in lower case."""
    return dict(json.loads(commit.parameters[_COLUMNS]))


def nothing_of(table: TableName) -> str:
    """A FROM item for a table that was never written."""
    return f"(select * from {table.sql} where false)"


def metadata_query(file: str) -> str:
    """A query for the text of a metadata file."""
    return f"select value from text.{quoted(file)}"


def _names_by_id(fields: Iterable[Mapping[str, Any]]) -> Iterator[tuple[int, Sequence[str]]]:
    """Ids and names of a name mapping, nested ones too."""
    for field in fields:
        if "field-id" in field:
            yield int(field["field-id"]), sorted(field["names"])
        yield from _names_by_id(field.get("fields", ()))


def _field_ids(value: Any) -> Iterator[int]:
    """The ids in a column's JSON: its own and those of nested fields, elements, keys and values."""
    if isinstance(value, Mapping):
        yield from (one for key, one in value.items() if key == "id" or key.endswith("-id"))
        value = [*value.values()]
    if isinstance(value, list):
        for one in value:
            yield from _field_ids(one)


def _ids(value: Any) -> Any:
    """A column's JSON without names and comments."""
    if isinstance(value, Mapping):
        return [(key, _ids(value[key])) for key in sorted(value) if key not in ("doc", "name", "required")]
    return [*map(_ids, value)] if isinstance(value, list) else value
