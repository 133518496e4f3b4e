"""The consistency test: compares a view with its query at the source versions that the view reflects."""

from __future__ import annotations

from dataclasses import replace

from sparkivm.changes.frontier import SourceFrontier
from sparkivm.digest import digest
from sparkivm.engine import Engine, EngineError, RelationFacts
from sparkivm.errors import ModelError, NotIncremental
from sparkivm.formats import format_of
from sparkivm.frontend.moment_calls import replace_moments
from sparkivm.names import WEIGHT, TableName, name_of, quoted
from sparkivm.reasons import Reason
from sparkivm.refresh.model.compiled_view import compile_view
from sparkivm.refresh.model.model_query import check_is_query, query_text
from sparkivm.refresh.model.pinned_text import pinned_text
from sparkivm.refresh.operations.bag_difference import MORE, bag_difference
from sparkivm.refresh.request import RefreshRequest
from sparkivm.refresh.run.auxiliaries import auxiliaries_of
from sparkivm.refresh.session.recording_engine import RecordingEngine
from sparkivm.refresh.sources.pins import Pins
from sparkivm.refresh.sources.sources import Sources
from sparkivm.refresh.stored.stored_state import check_files, read_state

_DO = "run the model, then test it"


def consistency_sql(engine: Engine, request: RefreshRequest) -> str:
    """A query for the rows in which view and query differ, as bags; `which_diff` says which side has more.

    Raises: ModelError if the view's state is unknown, or its query now reads other tables.
    """
    view, recording = request.view, RecordingEngine(engine)
    text = query_text(engine, view, request.sql)
    stored = read_state(engine, request)
    if stored.built_empty:
        return "select 'built by --empty' as which_diff where false"
    if stored.frontier is None:
        raise ModelError(view, f"its state cannot be compared: {stored.problem}", _DO)
    frontier = stored.frontier
    assert stored.facts is not None, "a state with a frontier is there"
    try:
        check_files(engine, stored.facts)
    except EngineError as error:
        raise ModelError(view, str(error), "run the model with --full-refresh") from None
    sources = Sources.of(recording, Pins(), request, captures=False)
    model_sql = sources.model_text(view, text)
    check_is_query(engine, view, model_sql, frontier)
    if not sources.resolve(frontier.resolved):
        raise ModelError(
            view,
            "a table or function name in its SQL resolves differently than at the last refresh",
            "write relations with their schema, or run and test the model with the same current schema",
        )
    auxiliaries = auxiliaries_of(view, frontier.auxiliaries)
    asked = replace(request, sql=model_sql)
    compiled = compile_view(recording, sources, asked, frontier, auxiliaries, frontier.sources)
    # Other texts with the same plan are the same query: a comment differs, or the time of a run.
    if frontier.kind == "full" or compiled.plan_hash != frontier.plan:
        if frontier.text != digest(model_sql):
            raise ModelError(view, "the model's SQL is not the one that the view was refreshed with", _DO)
        if compiled.views != frontier.views:
            raise ModelError(view, "a plain view that it reads is not as at the last refresh", _DO)
    if frontier.kind == "full":
        compiled = replace(compiled, plan=None)  # the state was computed from the model's own text
    pinned = pinned_text(model_sql, compiled)
    for key in compiled.tables.keys() & frontier.sources.keys():
        _check_version(recording, view, sources, frontier.sources[key], is_pinned=pinned is not None)
    query = replace_moments(pinned or model_sql, frontier.moments)
    # A literal of this text may differ from the refresh's, for example the time of a run; so may a stamp.
    constants = compiled.plan.finalizer.of_runs if compiled.plan else frozenset()
    names = [field.name for field in compiled.fields]
    compared = [name for name in names if name not in constants] or names
    columns = ", ".join(map(quoted, compared))
    public = engine.describe(view)
    if public is None or public.kind != "view":
        raise ModelError(view, "its public view is missing", _DO)
    sides = (
        f"select {columns}, 1 as {WEIGHT} from {view.sql}",
        f"select {columns}, -1 as {WEIGHT} from query",
    )
    shown = f"""\
concat(case when {MORE} > 0 then 'only in the view' else 'only in the query' end,
    case when abs({MORE}) > 1 then concat(', ', abs({MORE}), ' times') else '' end) as which_diff,
  {columns}"""
    test = f"""\
with query ({", ".join(map(quoted, names))}) as (
{query}
)
{bag_difference(shown, columns, sides)}"""
    if engine.substituted(test) != test:  # dbt runs it like a user's text
        raise ModelError(view, "its query contains ${…}, which Spark would replace", "write it without ${")
    return test


def _check_version(
    engine: Engine, view: TableName, sources: Sources, known: SourceFrontier, *, is_pinned: bool
) -> None:
    """Raises: ModelError if the query would not read the version of a source that the view reflects.

    is_pinned  whether the query names it
    """
    now = sources.known(name_of(known.name))
    if now is None or (now.table_id != known.table_id and _is_replaced(engine, now, known)):
        what = f"{known.name} was replaced since the last refresh"
    elif not is_pinned and not known.is_version_of(now):
        what = f"{known.name} changed since the last refresh, and its former version cannot be named"
    else:
        return
    raise ModelError(view, what, _DO)


def _is_replaced(engine: Engine, now: RelationFacts, known: SourceFrontier) -> bool:
    """Whether a table's history does not contain the version any more."""
    try:
        format_of(now).change(now, known, engine.commits(now.name, known.version - 1))
    except NotIncremental as error:
        return error.fallback.reason is Reason.SOURCE_REPLACED
    return False
