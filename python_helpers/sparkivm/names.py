"""Names of tables and columns, and those that we reserve."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass

RESERVED_PREFIX = "__ivm_"

WEIGHT = "__ivm_w"  # signed multiplicity of a row in a delta
# Columns of Delta's change feed. A table that has a feed cannot have columns with these names.
OF_FEEDS = frozenset({"_change_type", "_commit_version", "_commit_timestamp"})
COUNT = "__ivm_n"  # rows of a group

STATE_SUFFIX = "__ivm"
STEP_SUFFIX = "__ivm_step_"
AUXILIARY_SUFFIX = "__ivm_aux_"
_ASIDE_SUFFIX = "__ivm_replaced"
_PART = re.compile(r"`(?:[^`]|``)+`|[^.`]+")
MOST_NUMBERED = 50  # per view: auxiliary views, and relations put aside
_SHORTEST_STEM = 200  # bytes of a name with which every name made from it begins
_LONGEST_IDENTIFIER = 255  # bytes of a file name; the metastore's own limit is the same


@dataclass(frozen=True)
class TableName:
    """The name of a table or view in Spark's catalog; `catalog` if the user gave one."""

    schema: str
    identifier: str
    catalog: str | None = None

    @property
    def parts(self) -> tuple[str, ...]:
        return (
            (self.catalog, self.schema, self.identifier) if self.catalog else (self.schema, self.identifier)
        )

    @property
    def sql(self) -> str:
        """The name as quoted SQL."""
        return _dotted(self.parts)

    @property
    def schema_sql(self) -> str:
        """The name of its schema as quoted SQL."""
        return _dotted(self.parts[:-1])

    @property
    def key(self) -> str:
        """The name as Spark compares it: in lower case, without the session catalog."""
        parts = self.parts[1:] if self.catalog == "spark_catalog" else self.parts
        return ".".join(part.lower() for part in parts)

    def __str__(self) -> str:
        return ".".join(filter(None, self.parts))


def is_reserved(column: str) -> bool:
    """Whether a column has a name like those that we add, ignoring case like Spark."""
    return column.lower().startswith(RESERVED_PREFIX)


def in_changes(column: str) -> str:
    """The name of a source's column beside weights, distinct from all of our column names."""
    return f"{RESERVED_PREFIX}of_source_{column[len(RESERVED_PREFIX) :]}" if is_reserved(column) else column


def name_of(key: str) -> TableName:
    """A relation's name from its key."""
    *head, schema, identifier = key.split(".")
    return TableName(schema, identifier, head[0] if head else None)


def as_in_changes(column: str) -> str:
    """A SELECT item: a source's column under that name."""
    inside = in_changes(column)
    return quoted(column) if inside == column else f"{quoted(column)} as {quoted(inside)}"


def _dotted(parts: Iterable[str]) -> str:
    return ".".join(quoted(part) for part in parts)


def quoted(identifier: str) -> str:
    """An identifier between backticks."""
    return "`" + identifier.replace("`", "``") + "`"


def unquoted(name: str) -> str:
    """A name as SQL writes it, without backticks around it."""
    in_backticks = len(name) > 2 and name[0] == name[-1] == "`"
    return name[1:-1].replace("``", "`") if in_backticks else name


def parts_of(dotted: str) -> tuple[str, ...]:
    """The parts of a name like `catalog.schema` as SQL writes it, each in backticks if necessary."""
    return tuple(map(unquoted, _PART.findall(dotted)))


def literal(text: str) -> str:
    """A string as a SQL literal."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def state_table(view: TableName, catalog: str | None = None) -> TableName:
    """The table that stores a view; a name too long for a file is cut and made unique by a hash.

    catalog  of the table; None for the view's catalog
    """
    return TableName(view.schema, suffixed(view.identifier, STATE_SUFFIX), catalog or view.catalog)


def auxiliary_view(view: TableName, number: int) -> TableName:
    """One of a view's auxiliary views, which are numbered from 1."""
    return TableName(view.schema, suffixed(view.identifier, f"{AUXILIARY_SUFFIX}{number}"), view.catalog)


def name_aside(view: TableName, number: int) -> TableName:
    """The name for somebody else's relation that had the view's name; numbered from 1."""
    suffix = _ASIDE_SUFFIX if number == 1 else f"{_ASIDE_SUFFIX}_{number}"
    return TableName(view.schema, suffixed(view.identifier, suffix), view.catalog)


def reserved_names(view: TableName) -> dict[str, str]:
    """The names that a view may need besides its own: key → what it is, as in messages."""
    names = {state_table(view).key: "state"}
    for number in range(1, MOST_NUMBERED + 1):
        auxiliary = auxiliary_view(view, number)
        names[auxiliary.key] = "auxiliary view"
        names[state_table(auxiliary).key] = "state of an auxiliary view"
        names[name_aside(view, number).key] = "place for a former relation"
    return names


def step_table(view: TableName, tail: str) -> TableName:
    """A table that exists while a view is refreshed."""
    return TableName(view.schema, suffixed(view.identifier, STEP_SUFFIX + tail), view.catalog)


def stem_of(identifier: str) -> str:
    """The beginning of a name, with which every name made from it begins."""
    return identifier.encode()[:_SHORTEST_STEM].decode(errors="ignore")


def suffixed(identifier: str, suffix: str) -> str:
    name = identifier + suffix
    if len(name.encode()) <= _LONGEST_IDENTIFIER:
        return name
    digest = hashlib.sha256(identifier.encode()).hexdigest()[:12]
    room = _LONGEST_IDENTIFIER - len(suffix) - len(digest) - 1
    return identifier.encode()[:room].decode(errors="ignore") + "_" + digest + suffix
