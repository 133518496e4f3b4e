"""A full refresh: the state is computed again from the sources, with a stated reason."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from sparkivm.algebra import Window
from sparkivm.algebra.aggregates.sum import OVERFLOW
from sparkivm.changes.frontier import Frontier
from sparkivm.changes.source_change import CHANGE_FEED, records_changes
from sparkivm.engine import EngineError
from sparkivm.errors import ModelError
from sparkivm.frontend.chosen_rows import with_chosen_rows
from sparkivm.names import quoted
from sparkivm.plan.state import BagState
from sparkivm.reasons import Fallback, Reason
from sparkivm.refresh.attempt import Attempt
from sparkivm.refresh.commit import Committed
from sparkivm.refresh.compiled_view import CompiledView
from sparkivm.refresh.new_table import make_table
from sparkivm.refresh.pinned_text import pinned_text
from sparkivm.refresh.result import Mode, RefreshResult, SourceVersions
from sparkivm.refresh.stored_state import StoredState
from sparkivm.spark_sql.relations import select_text

# Spark may make a mistake in a plan, and none in a text of the same meaning. Other classes, as
# INTERNAL_ERROR_SHUFFLE, are failures of the cluster.
_MISTAKE_OF_SPARK = re.compile(r"\[INTERNAL_ERROR(?:_ATTRIBUTE_NOT_FOUND)?\]")


def rebuild(
    attempt: Attempt,
    stored: StoredState,
    compiled: CompiledView,
    settings: Mapping[str, str],
    fallback: Fallback,
) -> RefreshResult:
    """Replace the state by what the sources hold now, with the auxiliary views that are worth it by now.

    fallback  why
    Raises: ModelError if the mode is strict, or the model's config forbids it.
    """
    first = fallback.reason is Reason.STATE_MISSING
    asked = fallback.reason is Reason.FULL_REFRESH_REQUESTED
    strict = attempt.request.refresh_mode == "strict"
    unmaintainable = compiled.fallback
    if strict and (unmaintainable is not None or not (first or asked)):
        cause = unmaintainable or fallback
        raise ModelError(
            str(attempt.view), f"{cause}, and refresh_mode is strict", cause.reason.way_out, cause.place
        )
    if not first and not attempt.request.full_refresh_allowed and not asked:
        raise ModelError(
            str(attempt.view),
            f"it has to be rebuilt ({fallback}), and its config says full_refresh: false",
            "remove full_refresh: false for one run",
        )
    compiled = attempt.auxiliaries.decided(stored.frontier, compiled, partial(attempt.compile, None))
    _switch_on_capture(attempt, compiled)
    if compiled.auxiliaries:
        attempt.auxiliaries.check_sources()
    former = stored.frontier.auxiliaries if stored.frontier else None
    drops = stored.facts is not None and (former is None or len(former) > len(compiled.auxiliaries))
    frontier = replace(attempt.frontier(compiled, settings), drops_auxiliaries=drops)
    try:
        committed = _replace_state(attempt, stored, frontier, _select(attempt, compiled))
    except EngineError as error:
        if stored.facts is None:
            attempt.auxiliaries.drop_from(1)  # else they would be of no view
        failed = _failure_of_plan(error)
        if failed is None or compiled.plan is None:
            raise
        timeless = not compiled.plan.moments
        if compiled.auxiliaries:
            compiled = attempt.compile(None)
        compiled = replace(compiled, plan=None, fallback=failed, complete=compiled.complete and timeless)
        return rebuild(attempt, stored, compiled, settings, fallback if first or asked else failed)
    attempt.publish(compiled, frontier, attempt.state_facts(), in_any_case=attempt.request.full_refresh)
    if drops or stored.facts is None:
        attempt.auxiliaries.drop_from(len(compiled.auxiliaries) + 1)
    rows = committed.commit.count("numOutputRows")
    reported = fallback if unmaintainable is None or not first else unmaintainable
    mode: Mode = "create" if first else "full"
    return attempt.result(
        mode,
        fallback=None if first and unmaintainable is None else reported,
        form="create" if first else "rebuild",
        inserted=rows,
        sources=tuple(SourceVersions(str(s.source), None, s.version) for s in compiled.tables.values()),
        compiled=compiled,
        created=first,
    )


def rebuild_after(
    attempt: Attempt,
    stored: StoredState,
    compiled: CompiledView,
    settings: Mapping[str, str],
    error: EngineError | RecursionError,
) -> RefreshResult:
    """Rebuild where a refresh from changes failed: old files may be gone, or the delta nested too deeply.

    Raises: ModelError if the mode is strict.
    """
    if attempt.request.refresh_mode == "strict":
        raise ModelError(
            str(attempt.view), f"the refresh from changes failed: {error}", "see the debug log"
        ) from error
    return rebuild(attempt, stored, compiled, settings, Fallback(Reason.REFRESH_FAILED, str(error)))


def build_empty(attempt: Attempt, stored: StoredState) -> RefreshResult:
    """--empty: an existing view is left alone, a missing one built without rows, to be rebuilt."""
    if stored.facts is not None and attempt.public.is_there:
        return attempt.result("no_op", explanation="--empty leaves an existing view as it is")
    owner = attempt.request.owner
    frontier = Frontier(
        owner.project, owner.model, attempt.view.key, "full", "", "", {}, {}, deterministic=False
    )
    _replace_state(attempt, stored, frontier, f"select * from (\n{attempt.request.sql}\n) as model limit 0")
    names = [f.name for f in attempt.engine.schema_of(f"select * from {attempt.state.sql}")]
    attempt.public.create(f"select {', '.join(map(quoted, names))}\nfrom {attempt.state.sql}", frontier)
    return attempt.result("create", explanation="--empty", created=True)


def is_mistake_of_spark(message: str) -> bool:
    """Whether an error is one of Spark's own, and neither the query's nor the cluster's."""
    return _MISTAKE_OF_SPARK.search(message) is not None


def _failure_of_plan(error: EngineError) -> Fallback | None:
    """What speaks against computing the plan, and not against the model's own text."""
    if OVERFLOW in str(error):
        return Fallback(Reason.NUMERIC_OVERFLOW)
    if is_mistake_of_spark(str(error)):
        return Fallback(Reason.REFRESH_FAILED, str(error))
    return None


def _switch_on_capture(attempt: Attempt, compiled: CompiledView) -> None:
    """Sources that do not record their changes do so from now on."""
    if compiled.plan is None or attempt.request.change_capture == "never_alter":
        return
    for key in sorted(compiled.plan.tables):
        source = compiled.tables[key]
        if records_changes(source):
            continue
        problem: EngineError | None = None
        try:
            attempt.execute(attempt.engine.render("enable_change_capture", table=source.name.sql))
            attempt.warnings.append(f"{source.name} records its changes from now on ({CHANGE_FEED} = true)")
        except EngineError as error:
            problem = error
        attempt.sources.forget(source.source)
        fresh = attempt.sources.facts(source.source)
        assert fresh is not None, f"{source.name} was there a moment ago"
        compiled.tables[key] = fresh
        # The refresh of another view may have been faster.
        if problem is not None and not records_changes(fresh):
            attempt.warnings.append(
                f"{source.name} does not record its changes, and could not be told to: {problem}"
            )


def _select(attempt: Attempt, compiled: CompiledView) -> str:
    """The model's own text at the pinned versions where the state is its rows; else what the plan has."""
    plan = compiled.plan
    pinned = pinned_text(attempt.request.sql, compiled)
    own = pinned if pinned is not None else attempt.request.sql
    if plan is None:
        return own
    if (
        isinstance(plan.state, BagState)
        and pinned is not None
        and compiled.tree is not None
        and with_chosen_rows(compiled.tree) is compiled.tree  # or columns would have other names
        and plan.finalizer.split.takes_all
        and not plan.moments
        and not any(isinstance(node, Window) for node in plan.core.walk())  # which settles ties
        and plan.state.names == tuple(f.name for f in compiled.fields)
    ):
        return pinned
    return select_text(plan.content, attempt.texts(compiled))


def _replace_state(attempt: Attempt, stored: StoredState, frontier: Frontier, select: str) -> Committed:
    layout = attempt.request.layout
    location = attempt.request.state_location if stored.facts is None else None  # Delta moves no table
    marker = attempt.request.state_marker
    properties = {CHANGE_FEED: "true", **layout.tblproperties, **marker.properties}

    def made(properties: Mapping[str, str]) -> Committed:
        sql = attempt.engine.render(
            "rebuild_state",
            state=attempt.state.sql,
            select=select,
            partition_by=[quoted(name) for name in layout.partition_by],
            liquid_clustered_by=[quoted(name) for name in layout.liquid_clustered_by],
            tblproperties=properties,
            location=location,
        )
        return attempt.commit(stored, frontier, sql)

    def switch_on_feed() -> None:
        attempt.execute(attempt.engine.render("enable_change_capture", table=attempt.state.sql))

    return make_table(properties, made, switch_on_feed)
