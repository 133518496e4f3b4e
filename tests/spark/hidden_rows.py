"""Compares a view's hidden columns with those of a newly built state, as signed bags."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import sqlglot
from sqlglot import exp

from sparkivm.algebra import Relation
from sparkivm.algebra.spark_text import SparkText
from sparkivm.engine import Engine, RelationFacts
from sparkivm.plan.group_changes import folded
from sparkivm.plan.state import STATE, GroupState, State
from sparkivm.refresh.model.compiled_view import compile_view
from sparkivm.refresh.model.model_query import query_text
from sparkivm.refresh.request import RefreshRequest
from sparkivm.refresh.session.recording_engine import RecordingEngine
from sparkivm.refresh.sources.pins import Pins
from sparkivm.refresh.sources.sources import Sources
from sparkivm.refresh.stored.stored_state import read_state
from sparkivm.spark_sql.dialects import SPARK
from sparkivm.spark_sql.relations import select_text
from tests.fuzz.view import presented


def hidden_rows(engine: Engine, request: RefreshRequest) -> str:
    """SQL that returns the rows that the state holds, with sign 1, and those that it should hold, with sign -1."""
    state = request.state
    stored = read_state(engine, request)
    assert stored.frontier is not None, stored.problem
    if stored.frontier.kind == "full":  # its state has no hidden columns
        return "select 1 where false"
    sources = Sources.of(RecordingEngine(engine), Pins(), request, captures=False)
    text = query_text(engine, request.view, request.sql)
    request = replace(request, sql=sources.model_text(request.view, text), stamp_columns=())
    compiled = compile_view(engine, sources, request, stored.frontier)
    plan = compiled.plan
    assert plan is not None, f"{request.view} was incremental"
    tables = {**compiled.tables, STATE: engine.describe(state)}
    texts = _Current(tables, stored.frontier.moments)  # type: ignore[arg-type]
    if not isinstance(plan.state, GroupState):
        return _signed(plan.state, f"select * from {state.sql}", plan.content, texts)
    held = select_text(folded(plan.state), texts) if stored.frontier.several else f"select * from {state.sql}"
    return _signed(plan.state, held, plan.content, texts)


def _signed(state: State, held: str, wanted: Relation, texts: _Current) -> str:
    columns = ", ".join(presented(state, SPARK))
    return (
        f"select 1, {columns} from (\n{held}\n) as held "
        f"union all select -1, {columns} from (\n{select_text(wanted, texts)}\n) as wanted"
    )


class _Current:
    """Every table as it is now, and the moments of the last refresh."""

    def __init__(self, tables: Mapping[str, RelationFacts], moments: Mapping[str, str]) -> None:
        self._tables, self._moments = tables, moments

    def new(self, table: str) -> str:
        return self._tables[table].name.sql

    old = new

    def changes(self, table: str, fields: Sequence[str]) -> str:
        raise AssertionError("nothing changes here")

    def moment(self, key: str, before: bool) -> exp.Expr:
        return sqlglot.parse_one(self._moments[key], dialect=SparkText)
