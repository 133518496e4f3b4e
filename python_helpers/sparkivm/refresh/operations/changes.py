"""The rows that the last refresh added to a view and removed from it, as its readers saw them.

Both versions of the state are read through the public view's text, and compared as bags.

tested  tests/refresh/test_changes.py, tests/dbt/test_command.py
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from sparkivm.changes.frontier import Frontier
from sparkivm.changes.state_columns import difference
from sparkivm.digest import digest
from sparkivm.engine import Commit, Engine, RelationFacts, session_with
from sparkivm.errors import ModelError
from sparkivm.formats import STATE_FORMATS
from sparkivm.frontend.table_references import TableReference, references_in, replace_references
from sparkivm.names import WEIGHT, quoted
from sparkivm.refresh.operations.bag_difference import MORE, bag_difference
from sparkivm.refresh.operations.history import Refresh, built_state, frontiers_in, refresh_of
from sparkivm.refresh.request import RefreshRequest
from sparkivm.refresh.session.planning_settings import OF_EACH_STATEMENT
from sparkivm.refresh.stored.ownership import is_ours
from sparkivm.refresh.stored.stored_state import all_commits


@dataclass(frozen=True)
class ChangedRow:
    """A row that the view has more, or less, often than before; `values` in the columns' order."""

    change: str  # added or removed
    times: int
    values: tuple[Any, ...]


@dataclass(frozen=True)
class ChangedRows:
    """Rows that a refresh changed; an updated row was removed and added. `complete`: none is left out."""

    view: str
    refresh: Refresh
    columns: tuple[str, ...]
    rows: tuple[ChangedRow, ...]
    complete: bool


@dataclass(frozen=True)
class _Version:
    """A commit of the state, and the frontier that holds there."""

    commit: Commit
    frontier: Frontier


def changed_rows(engine: Engine, request: RefreshRequest, limit: int) -> ChangedRows:
    """What the last refresh that changed the state did to the view. Reads both versions of the state.

    limit  of the rows
    Raises: ModelError if the changes cannot be determined; EngineError, for example if files of a version are
    gone.
    """
    state = built_state(engine, request)
    public = engine.describe(request.view)
    if public is None or public.kind != "view" or not is_ours(public, request.view_marker):
        raise ModelError(request.view, "its public view is missing", "run the model")
    after, before = _versions(engine, state, request)
    text = public.view_text.strip()
    _check_text(request, text, after, before)
    columns = [field.name for field in public.fields]
    new = _text_at(request, text, state, after)
    old = _text_at(request, text, state, before) if before is not None else None
    with session_with(engine, {**public.view_settings, **OF_EACH_STATEMENT}):
        found = engine.query(_difference(list(map(quoted, columns)), new, old, limit + 1))
    rows = [
        ChangedRow(
            "added" if row[MORE] > 0 else "removed",
            abs(row[MORE]),
            tuple(_plain(row[column]) for column in columns),
        )
        for row in found
    ]
    refresh = refresh_of(STATE_FORMATS[state.kind], after.commit, after.frontier)
    shown = tuple(sorted(rows[:limit], key=lambda row: repr(row.values)))
    return ChangedRows(str(request.view), refresh, tuple(columns), shown, complete=len(rows) <= limit)


def _plain(value: Any) -> Any:
    """A value as JSON has it, else as text."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    return str(value)


def _versions(
    engine: Engine, state: RelationFacts, request: RefreshRequest
) -> tuple[_Version, _Version | None]:
    """The state after the last refresh that changed it, and before; None if it was built by this refresh.

    Raises: ModelError if the history does not go back that far.
    """
    format, after, before = STATE_FORMATS[state.kind], None, None
    for commit in all_commits(engine, state):
        frontier = None if format.is_compaction(commit) else next(frontiers_in(commit), None)
        if after is None:
            if frontier is None or frontier.outcome.mode in ("", "no_op"):
                continue
            after = _Version(commit, frontier)
            if frontier.outcome.mode == "create":
                return after, None
            continue
        before = before or commit
        if before.version != after.commit.version - 1:
            break
        if frontier is not None:
            return after, _Version(before, frontier)
    if after is None:
        raise ModelError(request.view, "its state records no refresh", "run the model")
    raise ModelError(
        request.view,
        f"the state {state.name} no longer has a version before its last refresh",
        "run the command again after the next refresh",
    )


def _check_text(request: RefreshRequest, text: str, after: _Version, before: _Version | None) -> None:
    """Check that the public view's text shows both versions as their readers saw them.

    Raises: ModelError.
    """
    frontier, shown = after.frontier, digest(text)
    if shown not in frontier.shown_by:
        raise ModelError(
            request.view,
            "the public view was replaced after the last refresh that changed the state",
            "run the command again after the next refresh from changes",
        )
    if before is None:
        return
    old = before.frontier
    # A literal of the view, such as the time of the run, may differ between the two texts.
    same = (old.plan, old.fields, old.settings) == (frontier.plan, frontier.fields, frontier.settings)
    adds_up = not old.several or shown == frontier.public[-1]
    if not same or not adds_up or difference(old.columns, frontier.columns):
        raise ModelError(
            request.view,
            "the query or a setting changed at the last refresh, so its two versions cannot be compared",
            "run the command again after the next refresh",
        )


def _text_at(request: RefreshRequest, text: str, state: RelationFacts, version: _Version) -> str:
    """The public view's text over a version of the state.

    Raises: ModelError if the text reads anything else.
    """
    commit = version.commit
    pinned = replace(state, version=commit.version, commit_id=commit.id, read_as="").pinned
    references = references_in(request.view, text)
    own = tuple(part.lower() for part in request.state.parts)
    if not references or any(tuple(map(str.lower, one.parts)) != own for one in references):
        raise ModelError(request.view, f"its public view does not read {request.state}", "run the model")

    def read(reference: TableReference) -> str:
        alias = "" if reference.aliased else f" as {quoted(request.state.identifier)}"
        return f"(select * from {pinned}){alias}"

    return replace_references(text, references, read)


def _difference(columns: Sequence[str], new: str, old: str | None, limit: int) -> str:
    listed = ", ".join(columns)
    sides = [f"select {listed}, 1 as {WEIGHT} from (\n{new}\n) as after_refresh"]
    if old is not None:
        sides.append(f"select {listed}, -1 as {WEIGHT} from (\n{old}\n) as before_refresh")
    return f"{bag_difference(f'{listed}, {MORE}', listed, sides)}\nlimit {limit}"
