"""What a project declares about its sources: `meta: {sparkivm: …}` of a dbt source, seed, snapshot or model.

key             columns that identify a row
mirror          options of a mirror of a source without history; false: no mirror, true: always a mirror
change_log      the source is not a table but a log of its changes
keep_snapshots  how long an Iceberg source keeps a snapshot that a view has read
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import Any

from sparkivm.changes.change_log import ChangeLog
from sparkivm.errors import DeclarationError
from sparkivm.names import TableName, suffixed

_RETENTION = re.compile(r"(?:\b[1-9]\d* (?:second|minute|hour|day|week)s?\b ?)+", re.IGNORECASE)
_MIRROR_SUFFIX = "__ivm_mirror"
_KEEP = "keep_snapshots"
OPTIONS = ("key", "mirror", "change_log", _KEEP)
_KEPT = re.compile(r"([1-9]\d{0,4}) (minute|hour|day)s?", re.IGNORECASE)
_MINUTES = {"minute": 1, "hour": 60, "day": 24 * 60}
_MIRROR_OPTIONS = ("name", "schema", "location", "retention")
_FORMATS = {
    "debezium": ChangeLog(
        key=(),
        order=("ts_ms",),
        operation="op",
        upserts=("c", "u", "r"),
        deletes=("d",),
        ignored=("m",),
        after="after",
        before="before",
    ),
    "delta": ChangeLog(
        key=(),
        order=("_commit_version",),
        operation="_change_type",
        upserts=("insert", "update_postimage"),
        deletes=("delete", "update_preimage"),  # an update may change the key
        hidden=("_change_type", "_commit_version", "_commit_timestamp"),
    ),
    "columns": ChangeLog(
        key=(), order=(), operation="op", upserts=("c", "u", "r", "i"), deletes=("d",), hidden=()
    ),
}


@dataclass(frozen=True)
class MirrorOptions:
    """Where a mirror is stored, and how long its old versions are kept."""

    name: str = ""
    schema: str = ""
    location: str = ""  # of the directory that contains the mirror's
    retention: str = ""  # `30 days`


@dataclass(frozen=True)
class SourceDeclaration:
    """The declaration of one source."""

    key: tuple[str, ...] = ()
    mirrored: bool | None = None  # None: only if it has no history of its own
    mirror: MirrorOptions = MirrorOptions()
    log: ChangeLog | None = None
    kept_minutes: int = 0  # 0: no snapshot is kept for a view

    @property
    def may_be_mirrored(self) -> bool:
        """Whether such a source may get a mirror."""
        return self.mirrored is not False and self.log is None


@dataclass(frozen=True)
class DeclaredSources:
    """The declarations of all sources, by key; parsed on use, so that a mistake affects few views.

    home     the schema for mirrors: dbt's target schema, because others often own the sources' schemas
    project  the dbt project that declares them
    """

    home: str = ""
    metas: Mapping[str, Any] = field(default_factory=dict)
    project: str = ""

    @property
    def logs(self) -> tuple[str, ...]:
        """The keys of the change logs."""
        return tuple(
            k for k, meta in self.metas.items() if isinstance(meta, Mapping) and "change_log" in meta
        )

    @property
    def keeps_snapshots(self) -> bool:
        """Whether snapshots of any source are kept."""
        return any(isinstance(meta, Mapping) and _KEEP in meta for meta in self.metas.values())

    @property
    def names_catalogs(self) -> bool:
        """Whether a source is named with its catalog."""
        return any(key.count(".") > 1 for key in self.metas)

    def in_session(self, catalog: str) -> DeclaredSources:
        """The same in a session with this current catalog: there, keys do not name it."""
        prefix = f"{catalog.lower()}."
        metas = {
            key.removeprefix(prefix) if key.count(".") > 1 else key: meta for key, meta in self.metas.items()
        }
        return replace(self, metas=metas)

    def of(self, source: TableName) -> SourceDeclaration:
        """Raises: DeclarationError."""
        meta = self.metas.get(source.key)
        return SourceDeclaration() if meta is None else read_declaration(str(source), meta)

    def mirror_name(self, source: TableName, home: str) -> TableName:
        """home  the mirror's schema by default"""
        options = self.of(source).mirror
        schema = options.schema or self.home or home
        if options.name:
            return TableName(schema, options.name)
        parts = [source.identifier] if source.schema.lower() == schema.lower() else list(source.parts)
        if len(parts) == 3 and source.catalog == "spark_catalog":
            parts = parts[1:]
        return TableName(schema, suffixed("__".join(parts), _MIRROR_SUFFIX))


NOTHING_DECLARED = DeclaredSources()


def read_declaration(source: str, meta: object) -> SourceDeclaration:
    """Raises: DeclarationError, which names the source, the option and its allowed values."""
    options = _options(source, "sparkivm", meta, OPTIONS)
    key = _columns(source, "key", options.get("key"))
    mirror = options.get("mirror")
    if mirror is None or isinstance(mirror, bool):
        mirrored, where = mirror, MirrorOptions()
    else:
        texts = _options(source, "mirror", mirror, _MIRROR_OPTIONS)
        for name, value in texts.items():
            if not isinstance(value, str) or not value.strip():
                raise DeclarationError(source, f"mirror.{name} is {value!r}", "write a text")
        retention = texts.get("retention")
        if retention is not None and not _RETENTION.fullmatch(retention):
            raise DeclarationError(
                source, f"mirror.retention is {retention!r}", "write a number and a unit, for example 30 days"
            )
        mirrored, where = None, MirrorOptions(**texts)
    log = options.get("change_log")
    return SourceDeclaration(
        key,
        mirrored,
        where,
        None if log is None else _change_log(source, key, log),
        _kept_minutes(source, options[_KEEP]) if _KEEP in options else 0,
    )


def _kept_minutes(source: str, value: object) -> int:
    found = _KEPT.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        raise DeclarationError(
            source, f"{_KEEP} is {value!r}", "write a number of minutes, hours or days, for example 14 days"
        )
    return int(found[1]) * _MINUTES[found[2].lower()]


def _change_log(source: str, key: tuple[str, ...], declared: object) -> ChangeLog:
    if isinstance(declared, str):
        declared = {"format": declared}
    options = dict(_options(source, "change_log", declared, ("format", *_LOG_OPTIONS)))
    format = options.pop("format", "columns")
    if format not in _FORMATS:
        raise DeclarationError(
            source, f"change_log.format is {format!r}", f"use one of {', '.join(_FORMATS)}"
        )
    if not key:
        raise DeclarationError(
            source,
            "the change log has no key",
            "name the columns that identify a row: key: [id]",
        )
    given = {name: _LOG_OPTIONS[name](source, f"change_log.{name}", one) for name, one in options.items()}
    log = replace(_FORMATS[format], key=key, **given)
    for name in ("order", "upserts", "operation"):
        if not getattr(log, name):
            raise DeclarationError(source, f"change_log.{name} is missing", f"add {name}: …")
    if log.before and not log.after:
        raise DeclarationError(
            source, "change_log.before is set, but after is not", "set both, or neither: before: null"
        )
    if log.after and log.columns:
        raise DeclarationError(
            source,
            "change_log.columns is set, but `after` has the columns",
            "leave columns out",
        )
    twice = set(log.upserts) & set(log.deletes)
    if twice:
        raise DeclarationError(
            source, f"{min(twice)!r} is in change_log.upserts and in deletes", "keep it in one"
        )
    if not log.columns:
        return replace(log, hidden=(*log.hidden, log.operation))
    return log


def _options(source: str, place: str, value: object, known: tuple[str, ...]) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        switch = "true, false or " if place == "mirror" else ""
        raise DeclarationError(source, f"{place} is {value!r}", f"write {switch}options: {', '.join(known)}")
    for name in value:
        if name not in known:
            meant = get_close_matches(str(name), known, n=1)
            hint = f"write {meant[0]}" if meant else f"use {', '.join(known)}"
            raise DeclarationError(source, f"{place} has no option {name}", hint)
    return value


def _columns(source: str, option: str, value: object) -> tuple[str, ...]:
    names = [] if value is None else list(value) if isinstance(value, (list, tuple)) else [value]
    if not all(isinstance(one, str) and one.strip() for one in names):
        raise DeclarationError(source, f"{option} is {value!r}", "write a name, or a list of names")
    return tuple(names)


def _values(source: str, option: str, value: object) -> tuple[str, ...]:
    values = [] if value is None else list(value) if isinstance(value, (list, tuple)) else [value]
    if not all(isinstance(one, (str, int)) for one in values):
        raise DeclarationError(source, f"{option} is {value!r}", "write a value, or a list of values")
    # YAML reads `true` as a boolean; Spark prints booleans the same way.
    return tuple(str(one).lower() if isinstance(one, bool) else str(one) for one in values)


def _text(source: str, option: str, value: object) -> str:
    value = value or ""
    if not isinstance(value, str):
        raise DeclarationError(source, f"{option} is {value!r}", "write a column's name")
    return value


# How each is read.
_LOG_OPTIONS: Mapping[str, Callable[[str, str, object], Any]] = {
    "order": _columns,
    "operation": _text,
    "upserts": _values,
    "deletes": _values,
    "ignored": _values,
    "after": _text,
    "before": _text,
    "columns": _columns,
}
