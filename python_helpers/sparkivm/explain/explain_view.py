"""What the next refresh of a view would do and why, without doing it."""

from __future__ import annotations

from dataclasses import replace
from textwrap import indent

from sparkivm.engine import Engine
from sparkivm.errors import ModelError
from sparkivm.explain.pictures import dot, mermaid
from sparkivm.explain.plan_lines import delta_lines, delta_steps, plan_lines, plan_steps
from sparkivm.explain.plan_tree import PlanNode, plan_tree
from sparkivm.names import state_table
from sparkivm.reasons import Fallback
from sparkivm.refresh.auxiliaries import auxiliaries_of
from sparkivm.refresh.compiled_view import CompiledView, compile_view
from sparkivm.refresh.decide import Decision, decide
from sparkivm.refresh.model_query import check_is_query, query_text
from sparkivm.refresh.pins import Pins
from sparkivm.refresh.public_view import PublicView
from sparkivm.refresh.reason_to_rebuild import reason_to_rebuild
from sparkivm.refresh.request import RefreshRequest
from sparkivm.refresh.run_memory import NoMemory
from sparkivm.refresh.session_settings import semantic_settings
from sparkivm.refresh.source_catalog import SourceCatalog
from sparkivm.refresh.sources import Sources
from sparkivm.refresh.stored_state import StoredState, read_state

_FORMATS = ("text", "steps", "mermaid", "dot")


def explain_view(engine: Engine, request: RefreshRequest, format: str = "text") -> str:
    """The plan, what is incremental and what is not, and what a refresh would do now.

    format  text; steps: plan and delta after each pass that changed them; mermaid, dot: the plan drawn
    Raises: ModelError as a refresh would.
    """
    if format not in _FORMATS:
        raise ModelError(
            str(request.view), f"there is no format {format}", f"use one of {', '.join(_FORMATS)}"
        )
    view, state = request.view, state_table(request.view)
    sql = query_text(engine, view, request.sql)
    stored = read_state(engine, view, request.owner)
    sources = Sources(engine, Pins(), request.declared, view.schema, captures=False)
    request = replace(request, sql=sources.model_text(view, sql))
    check_is_query(engine, view, request.sql, stored.frontier)
    catalog = SourceCatalog(sources, view, frozenset({view.key, state.key}))
    auxiliaries = auxiliaries_of(view, stored.frontier.auxiliaries if stored.frontier else ())
    compiled = compile_view(
        engine, view, request.sql, catalog, stored.frontier, auxiliaries,
        may_keep=request.may_keep_views, unseen=request.header.fallback,
    )  # fmt: skip
    if format in ("mermaid", "dot"):
        root = (
            plan_tree(compiled.plan)
            if compiled.plan
            else PlanNode("full refresh", str(compiled.fallback), ())
        )
        return mermaid(str(view), root) if format == "mermaid" else dot(str(view), root)
    if compiled.plan is None:
        assert compiled.fallback is not None
        lines = ["not incrementally maintainable", *_reason_lines(compiled.fallback)]
    else:
        lines = plan_steps(compiled.plan) if format == "steps" else plan_lines(compiled.plan)
    decided = _decide(engine, request, stored, compiled, sources)
    lines = [str(view), "", *lines, *_auxiliary_lines(compiled), "", *_decision_lines(decided, compiled)]
    if isinstance(decided, Decision) and decided.change is not None:
        lines += delta_steps(decided.change) if format == "steps" else delta_lines(decided.change)
    return "\n".join(lines)


def _auxiliary_lines(compiled: CompiledView) -> list[str]:
    lines: list[str] = []
    for query, view in compiled.auxiliaries.items():
        lines += ["", f"auxiliary view {view}, refreshed first", indent(query, "  ")]
    return lines


def _decide(
    engine: Engine, request: RefreshRequest, stored: StoredState, compiled: CompiledView, sources: Sources
) -> Decision | Fallback:
    fallback = reason_to_rebuild(request, stored, compiled, semantic_settings(engine, request.header))
    if fallback is not None:
        return fallback
    assert compiled.plan is not None and stored.frontier is not None and stored.facts is not None
    return decide(
        engine, compiled.plan, stored.frontier, stored.facts, compiled.tables,
        request.refresh_mode, request.change_capture, sources.moments(compiled.plan.moments), NoMemory(),
        PublicView(engine, sources, request).adds_up(compiled),
    )  # fmt: skip


def _decision_lines(decision: Decision | Fallback, compiled: CompiledView) -> list[str]:
    if isinstance(decision, Fallback):
        return ["next refresh: full", *_reason_lines(decision)]
    lines = [f"next refresh: {decision.mode}" + (f" by {decision.change.form}" if decision.change else "")]
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
            lines.append(f"  {key}: by its mirror {facts.name}, which the next run compares with it first")
    return lines


def _reason_lines(fallback: Fallback) -> list[str]:
    lines = [f"  what   {fallback.reason.name}: {fallback.detail or fallback.reason.happened}"]
    if fallback.place is not None:
        place = fallback.place
        lines.append(f"  where  line {place.line}, column {place.column}: {place.text}")
    return [*lines, f"  do     {fallback.reason.way_out}"]
