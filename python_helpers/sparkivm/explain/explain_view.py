"""What the next refresh of a view would do and why, without doing it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from textwrap import indent

from sparkivm.engine import Engine, EngineError
from sparkivm.errors import ModelError
from sparkivm.explain.pictures import dot, mermaid
from sparkivm.explain.plan_json import explained
from sparkivm.explain.plan_lines import delta_lines, delta_steps, plan_lines, plan_steps
from sparkivm.explain.plan_svg import svg
from sparkivm.explain.plan_tree import PlanNode, plan_tree
from sparkivm.names import TableName, name_of
from sparkivm.reasons import Fallback, Reason
from sparkivm.refresh.changed_rows.run_memory import Memory
from sparkivm.refresh.decide.decide import Decision, decide
from sparkivm.refresh.decide.evolution import Evolution, evolution
from sparkivm.refresh.decide.reason_to_rebuild import reason_to_rebuild
from sparkivm.refresh.model.compiled_view import CompiledView
from sparkivm.refresh.model.model_query import check_is_query, query_text
from sparkivm.refresh.observation import Observation, observe, own_state
from sparkivm.refresh.public_view import PublicView
from sparkivm.refresh.request import RefreshRequest
from sparkivm.refresh.run.auxiliaries import auxiliaries_of, queries_kept
from sparkivm.refresh.run.from_changes import script_of
from sparkivm.refresh.run.rebuild import refused, script_of_rebuild
from sparkivm.refresh.session.recording_engine import RecordingEngine
from sparkivm.refresh.session.session_settings import semantic_settings
from sparkivm.refresh.sources.pins import Pins
from sparkivm.refresh.sources.sources import Sources

_PICTURES = {"mermaid": mermaid, "dot": dot, "svg": svg}
FORMATS = ("text", "steps", "json", *_PICTURES)


def explain_view(engine: Engine, request: RefreshRequest, format: str = "text") -> str:
    """The plan, which parts are incremental, and what a refresh would do now.

    format  text; steps: plan and delta after each pass that changed them; json; mermaid, dot, svg: the plan
            as a drawing
    Raises: ModelError, like a refresh.
    """
    if format not in FORMATS:
        raise ModelError(request.view, f"unknown format {format}", f"use one of {', '.join(FORMATS)}")
    view, recording = request.view, RecordingEngine(engine)
    sql = query_text(engine, view, request.sql)
    sources = Sources.of(recording, Pins(), request, captures=False)
    request = replace(request, sql=sources.model_text(view, sql))
    public = PublicView(recording, sources, request)
    stored = own_state(recording, request, public)
    check_is_query(engine, view, request.sql, stored.frontier)
    settings = semantic_settings(engine, request.header, request.stamp_columns)
    seen = observe(
        recording, sources, request, stored, settings, public,
        auxiliaries_of(view, queries_kept(request, stored.frontier)),
    )  # fmt: skip
    compiled = seen.compiled
    root = plan_tree(compiled.plan) if compiled.plan else None
    if format in _PICTURES:
        full = PlanNode("full refresh", str(compiled.fallback), ())
        return _PICTURES[format](str(view), root or full)
    decided = _decide(engine, seen)
    refreshed_first = _auxiliaries_behind(sources, seen)
    if refreshed_first and isinstance(decided, Decision) and decided.mode == "no_op":
        changes = "what changes in its auxiliary views decides"
        decided = replace(decided, mode="incremental", explanation=changes)
    why = decided.fallback if isinstance(decided, Decision) else None
    refusal = refused(request, why, compiled.fallback) if why is not None else None
    steps: Sequence[str] = ()
    if refusal is None:
        before = (f"refresh auxiliary view {name}" for name in refreshed_first)
        steps = (*before, *_steps(seen, decided, public.former_state))
    if isinstance(decided, Evolution):
        decided = Decision("incremental", {}, explanation="the query was edited")
    if format == "json":
        return explained(str(view), root, decided, refusal, steps)
    if compiled.plan is None:
        assert compiled.fallback is not None
        lines = ["not incremental", *_reason_lines(compiled.fallback)]
    else:
        lines = plan_steps(compiled.plan) if format == "steps" else plan_lines(compiled.plan)
    lines = [str(view), "", *lines, *_auxiliary_lines(compiled), ""]
    lines += _decision_lines(decided, refusal, compiled)
    lines += [f"  step {number}: {label}" for number, label in enumerate(steps, 1)]
    if decided.way is not None:
        change = decided.way.change
        lines += delta_steps(change) if format == "steps" else delta_lines(change)
    return "\n".join(lines)


def _auxiliary_lines(compiled: CompiledView) -> list[str]:
    lines: list[str] = []
    for query, view in compiled.auxiliaries.items():
        lines += ["", f"auxiliary view {view}, refreshed first", indent(query, "  ")]
    return lines


def _decide(engine: Engine, seen: Observation) -> Decision | Evolution:
    why = reason_to_rebuild(seen)
    if why is not None:
        return evolution(seen, why) or Decision("full", {}, fallback=why)
    try:
        return decide(engine, seen, Memory())
    except (EngineError, RecursionError) as error:  # as in a refresh
        return Decision("full", {}, fallback=Fallback(Reason.REFRESH_FAILED, str(error)))


def _auxiliaries_behind(sources: Sources, seen: Observation) -> Sequence[TableName]:
    """The auxiliary views, which are refreshed first, if a table that they read changed."""
    known = seen.stored.frontier.sources if seen.stored.frontier else {}
    read = [source for key, source in known.items() if key in seen.compiled.behind]
    now = ((source, sources.known(name_of(source.name))) for source in read)
    moved = any(facts is None or not source.is_version_of(facts) for source, facts in now)
    return tuple(seen.compiled.auxiliaries.values()) if moved else ()


def _decision_lines(decision: Decision, refusal: ModelError | None, compiled: CompiledView) -> list[str]:
    if refusal is not None:
        return ["next refresh: an error, which leaves the view as it is", *str(refusal).splitlines()[1:]]
    form = f" by {decision.way.change.form}" if decision.way else ""
    lines = [f"next refresh: {decision.mode}{form}"]
    if decision.fallback is not None:
        lines += _reason_lines(decision.fallback)
    if decision.explanation:
        lines.append(f"  {decision.explanation}")
    for key, change in decision.changes.items():
        read = {"none": "unchanged", "feed": "change data feed", "diff": "difference of two versions"}[
            change.how
        ]
        lines.append(f"  {key}: versions {change.old}..{change.new}, {read}, {change.rows} changed rows")
    for key in decision.changes:
        facts = compiled.tables[key]
        if facts.mirror_of is not None:
            lines.append(
                f"  {key}: read through its mirror {facts.name}, which the next run first compares with it"
            )
    return lines


def _steps(seen: Observation, decided: Decision | Evolution, former_state: TableName | None) -> Sequence[str]:
    """The steps of the next refresh."""
    if isinstance(decided, Evolution):
        return decided.label, "refresh from the changes since the last refresh"
    if decided.way is None and decided.fallback is None:
        return ()
    if decided.way is not None:
        return script_of(seen, decided, seen.request.format).labels
    return script_of_rebuild(seen, former_state).labels


def _reason_lines(fallback: Fallback) -> list[str]:
    lines = [f"  what   {fallback.reason.name}: {fallback.detail or fallback.reason.happened}"]
    if fallback.place is not None:
        place = fallback.place
        lines.append(f"  where  line {place.line}, column {place.column}: {place.text}")
    return [*lines, f"  do     {fallback.reason.way_out}"]
