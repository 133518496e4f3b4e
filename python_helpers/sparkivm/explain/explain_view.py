"""What the next refresh of a view would do and why, without doing it."""

from __future__ import annotations

from dataclasses import replace
from textwrap import indent

from sparkivm.engine import Engine
from sparkivm.errors import ModelError
from sparkivm.explain.pictures import dot, mermaid
from sparkivm.explain.plan_tree import PlanNode, plan_tree, tree_lines
from sparkivm.names import state_table
from sparkivm.plan.compile_model import ViewPlan
from sparkivm.plan.state import GroupState
from sparkivm.reasons import Fallback
from sparkivm.refresh.auxiliaries import auxiliaries_of
from sparkivm.refresh.compiled_view import CompiledView, compile_view
from sparkivm.refresh.decide import decide
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

_FORMATS = ("text", "mermaid", "dot")


def explain_view(engine: Engine, request: RefreshRequest, format: str = "text") -> str:
    """The plan, what is incremental and what is not, and what a refresh would do now.

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
    if format != "text":
        root = (
            plan_tree(compiled.plan)
            if compiled.plan
            else PlanNode("full refresh", str(compiled.fallback), ())
        )
        return mermaid(str(view), root) if format == "mermaid" else dot(str(view), root)
    return "\n".join(
        [
            str(view),
            *_plan_lines(compiled),
            *_auxiliary_lines(compiled),
            "",
            *_decision_lines(engine, request, stored, compiled, sources),
        ]
    )


def _plan_lines(compiled: CompiledView) -> list[str]:
    if compiled.plan is None:
        assert compiled.fallback is not None
        return ["", "not incrementally maintainable", *_reason_lines(compiled.fallback)]
    return ["", *plan_lines(compiled.plan)]


def _auxiliary_lines(compiled: CompiledView) -> list[str]:
    lines: list[str] = []
    for query, view in compiled.auxiliaries.items():
        lines += ["", f"auxiliary view {view}, refreshed first", indent(query, "  ")]
    return lines


def plan_lines(plan: ViewPlan) -> list[str]:
    """Each operator with its strategy, and what the state table holds."""
    lines = ["plan", *(f"  {line}" for line in tree_lines(plan_tree(plan))), "", "state"]
    if isinstance(plan.state, GroupState):
        lines.append(f"  one row per {', '.join(plan.state.keys) or 'view'}")
        lines += [
            f"  {column.name}: {column.kind} {column.type or ''}".rstrip() for column in plan.state.columns
        ]
    else:
        lines.append(f"  the view's rows, each copy its own: {', '.join(plan.state.names)}")
    return lines


def _decision_lines(
    engine: Engine, request: RefreshRequest, stored: StoredState, compiled: CompiledView, sources: Sources
) -> list[str]:
    fallback = reason_to_rebuild(request, stored, compiled, semantic_settings(engine, request.header))
    if fallback is not None:
        return ["next refresh: full", *_reason_lines(fallback)]
    assert compiled.plan is not None and stored.frontier is not None and stored.facts is not None
    decision = decide(
        engine, compiled.plan, stored.frontier, stored.facts, compiled.tables,
        request.refresh_mode, request.change_capture, sources.moments(compiled.plan.moments), NoMemory(),
        PublicView(engine, sources, request).adds_up(compiled),
    )  # fmt: skip
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
