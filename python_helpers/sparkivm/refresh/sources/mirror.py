"""A mirror: a table that we keep equal to a source without history, and that records its changes.

It is compared with its source once in a run, and changed by at most one commit. The run pins a version whose
rows were the source's rows when the run looked.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from sparkivm.changes.mirror_texts import MirrorTexts
from sparkivm.changes.source_declaration import SourceDeclaration
from sparkivm.engine import EngineError, Field, RelationFacts
from sparkivm.errors import DeclarationError, NotIncremental
from sparkivm.formats import STATE_FORMATS
from sparkivm.formats.source_change import conflated
from sparkivm.formats.state_format import StateFormat, Write
from sparkivm.marker import Marker, Role, owner_of, read_marker
from sparkivm.names import TableName
from sparkivm.reasons import Reason
from sparkivm.refresh.session.recording_engine import RecordingEngine
from sparkivm.refresh.sources.row_differences import apply_differences, commit_alone
from sparkivm.refresh.sources.types_of_rows import check_no_sessions
from sparkivm.refresh.stored.commit import Conflict
from sparkivm.refresh.stored.ownership import drop_own

_MOST_TRIES = 4
_PAUSE_S = 1.0
_NO_SCHEMA = "SCHEMA_NOT_FOUND"
# Spark's error conditions if files vanish between listing and reading, as in an overwrite.
_FILES_CHANGED = ("FAILED_READ_FILE", "CANNOT_READ_FILE_FOOTER", "PATH_NOT_FOUND", "UNABLE_TO_INFER_SCHEMA")


def check_mirror_is_there(source: RelationFacts) -> None:
    """Raises: NotIncremental if the next run has to make the mirror of a source again."""
    if source.mirror_of == source.name:
        raise NotIncremental(Reason.SOURCE_REPLACED, f"the mirror of {source.name} was removed")


@dataclass
class Mirror:
    """One source and its mirror.

    format  of a new mirror
    """

    engine: RecordingEngine
    project: str
    source: RelationFacts
    name: TableName
    declaration: SourceDeclaration
    format: StateFormat

    def facts(self) -> RelationFacts:
        """The mirror as it is, without a look at the source's rows; without a mirror, the source."""
        found = self._found()
        if found is None:
            return replace(self.source, kind=self.format.provider, mirror_of=self.source.name)
        return replace(found, mirror_of=self.source.name)

    def captured(self) -> RelationFacts:
        """The mirror with the rows that its source has now.

        Raises: NotIncremental if the source cannot be mirrored; Conflict if others committed first on every
        retry; EngineError if the source's files changed during both reads.
        """
        attempt, repeated = 0, False
        while True:
            try:
                return replace(self._up_to_date(self._fields(), repeated), mirror_of=self.source.name)
            except Conflict:
                attempt += 1
                if attempt == _MOST_TRIES:
                    raise
                time.sleep(0.2 * 2**attempt)
            except EngineError as error:
                if not _files_changed(error):
                    raise
                if repeated:
                    raise EngineError(
                        f"{self.source.name} cannot be read into its mirror {self.name}: its files changed "
                        f"during both reads, or are missing or damaged. {error}\n"
                        "  do     run dbt again when nothing writes to the source",
                        error.condition,
                    ) from error
                repeated = True
                time.sleep(_PAUSE_S)

    def removed(self) -> str:
        """Drop the mirror. Returns: what was done."""
        found = self._found()
        if found is None:
            return f"{self.source.name} has no mirror {self.name}"
        drop_own(self.engine, found)
        return f"{self.name}, the mirror of {self.source.name}, is dropped; its views will be rebuilt"

    def set_retention(self, mirror: RelationFacts) -> None:
        """Give an existing mirror the declared retention."""
        wanted = self._retention(_format_of(mirror))
        if any(mirror.properties.get(name) != value for name, value in wanted.items()):
            self.engine.run("mark_relation", kind="table", relation=self.name.sql, tblproperties=wanted)

    def _retention(self, format: StateFormat) -> Mapping[str, str]:
        kept = self.declaration.mirror.retention
        return format.retention(kept) if kept else {}

    def _found(self) -> RelationFacts | None:
        facts = self.engine.describe(self.name)
        if facts is not None and not (facts.kind in STATE_FORMATS and self._is_mirror(facts.properties)):
            raise DeclarationError(
                self.source.name,
                f"{self.name}, the name of its mirror, is taken by another relation",
                "declare another name, mirror: {name: …}, or drop that relation",
            )
        return facts

    def _is_mirror(self, properties: Mapping[str, str]) -> bool:
        """Whether a relation is the source's mirror; all projects that read the source may share one."""
        marker = read_marker(properties)
        return marker is not None and (marker.role, marker.owner.model) == (Role.MIRROR, self.source.name.key)

    def _location(self) -> str | None:
        """Where a new mirror stores its files; None if Spark decides.

        Raises: DeclarationError if another table is there.
        """
        root = self.declaration.mirror.location
        if not root:
            return None
        location = f"{root.rstrip('/')}/{self.name.identifier}"
        properties = self.engine.properties_at(location)
        if properties is not None and not self._is_mirror(properties):
            raise DeclarationError(
                self.source.name,
                f"{location}, where its mirror would be stored, holds another table",
                "declare another location, or remove these files",
            )
        return location

    def _fields(self) -> tuple[Field, ...]:
        """The source's current columns; Spark also lists its files again, which a session caches."""
        with suppress(EngineError):  # not every catalog knows the statement
            self.engine.run("refresh_source", source=self.source.name.sql)
        fields = self.engine.schema_of(f"select * from {self.source.name.sql}")
        self._check(fields)
        return fields

    def check_new(self, fields: tuple[Field, ...]) -> None:
        """Raises: NotIncremental if there can be no mirror of these columns; DeclarationError."""
        self._check(fields)
        self._check_kept(self.format, fields)

    def _check(self, fields: tuple[Field, ...]) -> None:
        names = [field.name for field in fields]
        for field in fields:
            type_ = field.spark_type
            if not type_.joinable or not type_.storable or type_.holds("void"):
                raise self._cannot_have(field, "a mirror")
        check_no_sessions(self.engine, self.source, fields)
        for name in self.declaration.key:
            if name.lower() not in map(str.lower, names):
                raise DeclarationError(
                    self.source.name, f"the key {name} is not a column", f"it has {', '.join(names)}"
                )

    def _check_kept(self, format: StateFormat, fields: tuple[Field, ...]) -> None:
        for field in fields:
            if not format.keeps(field.spark_type):
                raise self._cannot_have(field, f"a mirror in {format.provider.title()}")

    def _cannot_have(self, field: Field, table: str) -> NotIncremental:
        what = (
            f"{field.name} of {self.source.name} has type {field.type}, which {table} cannot store or compare"
        )
        return NotIncremental(Reason.TYPE_NOT_SUPPORTED, what)

    def _up_to_date(self, fields: tuple[Field, ...], repeated: bool) -> RelationFacts:
        found = self._found()
        columns = tuple(field.name for field in fields)
        if found is not None and _types(found.fields) == _types(fields):
            try:
                for key in dict.fromkeys((self.declaration.key, ())):
                    texts = MirrorTexts(
                        self.source.name, self.name, columns, _as_named(key, columns), conflated(fields)
                    )
                    applied = apply_differences(self.engine, found, texts)
                    if applied is not None:
                        return found if applied.version == found.version else self._at(applied.version)
                    self.engine.warn(
                        f"{self.source.name} has several rows with one {', '.join(texts.key)}, "
                        "which is declared as its key; we compare whole rows instead"
                    )
            except EngineError as error:  # for example, lost files of the mirror
                if _files_changed(error) and not repeated:
                    raise
                self.engine.warn(f"{self.name} is rebuilt, because it could not be updated: {error}")
        return self._at(self._make(found, fields))

    def _make(self, found: RelationFacts | None, fields: tuple[Field, ...]) -> int:
        format = self.format if found is None else _format_of(found)
        self._check_kept(format, fields)
        texts = MirrorTexts(self.source.name, self.name, tuple(field.name for field in fields))
        location = self._location() if found is None else None  # Delta cannot move a table

        def made(properties: Mapping[str, str]) -> int:
            arguments: dict[str, Any] = {
                "state": self.name.sql,
                "select": texts.content,
                "location": location,
            }
            arguments |= {"tblproperties": properties, "provider": format.provider}
            return commit_alone(self.engine, format, self.name, found, Write("rebuild_state", arguments))

        marker = Marker(owner_of(self.project, self.source.name.key, self.name), Role.MIRROR)
        properties = {
            **format.properties(marks_deleted=True),
            **self._retention(format),
            **marker.properties,
        }

        def in_its_schema() -> int:
            try:
                return format.make(self.name, properties, made, self.engine.write)
            except EngineError as error:
                if error.condition != _NO_SCHEMA:
                    raise
            self.engine.run("create_state_schema", schema=self.name.schema_sql)
            return format.make(self.name, properties, made, self.engine.write)

        try:
            version = in_its_schema()
        except EngineError as error:
            if _files_changed(error):
                raise
            if found is not None and format.must_be_dropped(error):
                drop_own(self.engine, found)
                return self._make(None, fields)
            raise NotIncremental(
                Reason.SOURCE_NOT_SUPPORTED,
                f"{self.source.name} is {self.source.provider or 'a table without history'}, "
                f"and its mirror {self.name} cannot be created: {error}",
            ) from error
        if found is None:
            self.engine.warn(
                f"{self.source.name} keeps no history: {self.name} mirrors it and records its changes"
            )
        return version

    def _at(self, version: int) -> RelationFacts:
        """Raises: Conflict if there is a newer version with rows that nobody compared."""
        facts = self.engine.describe(self.name)
        if facts is None or (facts.version != version and not self._has_rows_of(version, facts)):
            raise Conflict(f"{self.name} was written to by someone else after version {version}")
        return facts

    def _has_rows_of(self, version: int, facts: RelationFacts) -> bool:
        """Whether a later version has the same rows: a separate commit may enable a feed."""
        return facts.version > version and not any(
            map(_format_of(facts).changes_rows, self.engine.commits(self.name, version))
        )


def _format_of(mirror: RelationFacts) -> StateFormat:
    return STATE_FORMATS[mirror.kind]


def _files_changed(error: EngineError) -> bool:
    return error.condition.partition(".")[0] in _FILES_CHANGED


def _types(fields: tuple[Field, ...]) -> list[tuple[str, str]]:
    return [(field.name, field.stored_type) for field in fields]


def _as_named(key: tuple[str, ...], columns: tuple[str, ...]) -> tuple[str, ...]:
    """The key's columns as the table spells them."""
    return tuple(next(c for c in columns if c.lower() == name.lower()) for name in key)
