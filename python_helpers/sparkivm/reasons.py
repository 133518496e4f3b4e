"""Why a refresh was not incremental: one member per cause, with what happened and what to do."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Reason(Enum):
    """A stable code; its value is (what happened in general, what to do about it)."""

    STATE_MISSING = ("the view has no state yet", "no action needed; this is the first build")
    STATE_MODIFIED = (
        "something other than a refresh changed the state table",
        "write to the view's sources, never to its state",
    )
    STATE_FORMAT_CHANGED = (
        "the state was written by another version of the package, or somebody changed its frontier",
        "no action needed; the view is rebuilt once",
    )
    FRONTIER_MISSING = (
        "the state's history no longer records which source versions the state contains",
        "keep the history of the state table longer: delta.logRetentionDuration, or the snapshots in Iceberg",
    )
    QUERY_CHANGED = (
        "the SQL of the model, or of a view that it reads, changed",
        "no action needed; the view is rebuilt once",
    )
    CONFIG_CHANGED = (
        "an option of the model or a session setting that affects the state changed",
        "no action needed if the change was intended; otherwise use the same settings in all runs",
    )
    SOURCE_REPLACED = (
        "a source is not the same table as at the last refresh",
        "update the source in place instead of dropping it",
    )
    SOURCE_SCHEMA_CHANGED = ("a source's columns changed", "no action needed; the view is rebuilt once")
    SOURCE_NOT_SUPPORTED = (
        "changes of a source cannot be read, and it has no mirror",
        "if `mirror: false` is declared, remove it; read a path or temporary view through a catalog view; or "
        "store the source as Delta or Iceberg",
    )
    HISTORY_UNAVAILABLE = (
        "a source's history since the last refresh is gone or has gaps",
        "refresh more often than the source's logs and files are cleaned up",
    )
    CHANGE_CAPTURE_OFF = (
        "a source does not record its changes, and change_capture: never_alter does not allow a refresh to "
        "enable that",
        "alter table … set tblproperties (delta.enableChangeDataFeed = true), or remove never_alter",
    )
    NON_DETERMINISTIC_EXPRESSION = (
        "an expression returns a different value each time it is computed",
        "compute it in a separate model that is materialized as a table",
    )
    OPERATOR_NOT_SUPPORTED = (
        "this construct has no incremental rule",
        "compute it in a separate model that is materialized as a table",
    )
    EXPRESSION_NOT_SUPPORTED = (
        "the expression or function is not on the list of those that can be refreshed from changes",
        "compute it in a separate model that is materialized as a table",
    )
    TYPE_NOT_SUPPORTED = (
        "values of a type cannot be compared or added up exactly",
        "cast the column to another type",
    )
    SQL_NOT_UNDERSTOOD = (
        "the compiler may read the SQL differently than Spark",
        "rephrase the marked part; if a setting is named, change it",
    )
    CHANGE_TOO_LARGE = (
        "a large part of a source changed",
        "no action needed; a rebuild is cheaper this time",
    )
    CHEAPER_IN_FULL = (
        "a rebuild costs less than applying the changes",
        "set refresh_mode: incremental to never rebuild for cost",
    )
    NUMERIC_OVERFLOW = ("a sum overflows its type", "cast the argument to a wider type")
    REFRESH_FAILED = (
        "the incremental refresh failed",
        "see logs/dbt.log; if it happens again, set refresh_mode: full",
    )
    REFRESH_CONFLICT = (
        "another refresh of this view committed first in every attempt",
        "do not refresh the same view from two dbt runs at once",
    )
    FULL_REFRESH_REQUESTED = ("a full refresh was requested", "no action needed")

    @property
    def happened(self) -> str:
        return self.value[0]

    @property
    def way_out(self) -> str:
        return self.value[1]


@dataclass(frozen=True)
class Place:
    """A place in the model's SQL; line and column count from 1."""

    line: int
    column: int
    text: str = ""


@dataclass(frozen=True)
class Fallback:
    """One cause of a full refresh: the code, the details, and the place if it is known."""

    reason: Reason
    detail: str = ""
    place: Place | None = None

    def __str__(self) -> str:
        where = f" (line {self.place.line}, column {self.place.column})" if self.place else ""
        return f"{self.reason.name}: {self.detail or self.reason.happened}{where}"
