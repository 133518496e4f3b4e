"""Why a refresh was not incremental: one member per cause, with its sentence and its way out."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Reason(Enum):
    """A stable code; its value is what happened in general and what to do about it."""

    STATE_MISSING = ("the view has no state yet", "no action needed; this is the first build")
    STATE_MODIFIED = (
        "something other than a refresh changed the state table",
        "write to the view's sources, never to its state",
    )
    STATE_FORMAT_CHANGED = (
        "another version of the package wrote the state, or its frontier was altered",
        "no action needed; the view is rebuilt once",
    )
    FRONTIER_MISSING = (
        "the state's history no longer says which source versions it holds",
        "raise delta.logRetentionDuration of the state table",
    )
    QUERY_CHANGED = (
        "the SQL of the model, or of a view that it reads, changed",
        "no action needed; the view is rebuilt once",
    )
    CONFIG_CHANGED = (
        "a setting that affects the result changed",
        "use the same session settings in all runs",
    )
    SOURCE_REPLACED = (
        "a source is not the same table as at the last refresh",
        "update the source in place instead of dropping it",
    )
    SOURCE_SCHEMA_CHANGED = ("a source's columns changed", "no action needed; the view is rebuilt once")
    SOURCE_NOT_SUPPORTED = (
        "a source keeps no history to read changes from",
        "store it as a Delta table, or put a view over its path",
    )
    HISTORY_UNAVAILABLE = (
        "a source's history since the last refresh is missing or has gaps",
        "refresh more often than the source's logs and files are cleaned up",
    )
    CHANGE_CAPTURE_OFF = (
        "a source does not record its changes",
        "alter table … set tblproperties (delta.enableChangeDataFeed = true)",
    )
    NON_DETERMINISTIC_EXPRESSION = (
        "an expression is non-deterministic",
        "compute it in a separate model",
    )
    OPERATOR_NOT_SUPPORTED = (
        "this construct has no incremental rule",
        "move it into a separate model",
    )
    EXPRESSION_NOT_SUPPORTED = (
        "an expression is not on the list of expressions that are safe in incremental SQL",
        "move it into a separate model",
    )
    TYPE_NOT_SUPPORTED = ("a type cannot be compared or added up exactly", "cast it")
    SQL_NOT_UNDERSTOOD = (
        "the compiler cannot read the SQL exactly as Spark does",
        "rephrase the marked part",
    )
    CHANGE_TOO_LARGE = ("too much of a source changed", "no action needed; a rebuild is cheaper this time")
    CHEAPER_IN_FULL = (
        "a rebuild costs less than applying the changes",
        "set refresh_mode: incremental to never rebuild for cost",
    )
    NUMERIC_OVERFLOW = ("a sum overflows its type", "cast the argument to a wider type")
    REFRESH_FAILED = ("the incremental refresh failed", "see the debug log")
    REFRESH_CONFLICT = (
        "another refresh of this view committed first on every retry",
        "run only one driver at a time for a view",
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
    """Where in the model's SQL: line and column count from 1."""

    line: int
    column: int
    text: str = ""


@dataclass(frozen=True)
class Fallback:
    """One cause of a full refresh: the code, the particulars, and the place where there is one."""

    reason: Reason
    detail: str = ""
    place: Place | None = None

    def __str__(self) -> str:
        where = f" (line {self.place.line}, column {self.place.column})" if self.place else ""
        return f"{self.reason.name}: {self.detail or self.reason.happened}{where}"
