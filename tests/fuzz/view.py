"""A view on the embedded engine: built, refreshed from deltas, compared with the recomputed query."""

from __future__ import annotations

import random
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from sqlglot import exp

from sparkivm.algebra import Relation
from sparkivm.algebra.relation import keeps_append_only
from sparkivm.algebra.scalar import column
from sparkivm.engine import Field
from sparkivm.frontend.chosen_rows import with_chosen_rows
from sparkivm.frontend.parse import parse_model
from sparkivm.frontend.query import read_query
from sparkivm.names import TableName, quoted
from sparkivm.normalize.prune_empty import prune_empty
from sparkivm.plan import group_changes
from sparkivm.plan.compile_model import ViewPlan, compile_query
from sparkivm.plan.finalizer import Entries
from sparkivm.plan.join_order import Sizes
from sparkivm.plan.key_ranges import KeyRanges
from sparkivm.plan.state import STAGED, GroupState, State
from sparkivm.plan.state_change import Form, StateChange, state_change
from sparkivm.plan.steps import INLINED_READS, in_steps, step_names
from sparkivm.refresh.decide.state_part import find_part, part_columns
from sparkivm.spark.data_types import SparkType
from sparkivm.spark_sql.dialects import SqlDialect
from sparkivm.spark_sql.relations import select_text
from sparkivm.statements import applying_statement
from tests.duckdb_dialect import DUCKDB
from tests.fuzz.embedded import Embedded, Sources, today
from tests.fuzz.key_ranges import key_ranges
from tests.fuzz.random_data import Change
from tests.fuzz.spark_statements import EmbeddedEngine

_STATE = TableName("main", "state")
_ROWS = "new_rows"  # the table with the applying statement's rows
_VERSION = "__version"
_TODAY = "__today"
_MOST_READS = (1, 8, INLINED_READS, INLINED_READS)


class View:
    """One model: its plan, and its state table `state`. The plan depends on types, not on rows: build it again for
    other rows.
    """

    def __init__(
        self, database: Embedded, sql: str, same: str | None = None, stamp_columns: Collection[str] = ()
    ) -> None:
        """same: an equivalent query, if the engine cannot run the model's"""
        self.database, self.sql = database, sql
        tree = parse_model("model", sql)
        recomputed = parse_model("model", same) if same else tree
        self._recomputation = _recomputation(recomputed, database.catalog.tables)
        query = read_query(tree, database.catalog)
        self.fields = database.fields(self.recomputation(0))
        self.plan: ViewPlan = compile_query(query, self.fields, self._types_of, stamp_columns=stamp_columns)
        # Rows that tie are equal only if the order has all columns.
        self.totally_ordered = len({key.column for key in query.sort}) == len(set(query.output))
        self.entries: Entries = "one"  # per group, of the state as it is now
        self._engine = EmbeddedEngine(database)
        self._contents: dict[int, str] = {}

    def recomputation(self, version: int) -> str:
        """The model's query over the tables at a version."""
        return _at(version, self._recomputation)

    def build(self) -> None:
        self.entries = "one"
        self.database.execute(f"create or replace table state as {self._content(0)}")

    def refresh(
        self,
        rng: random.Random,
        version: int,
        changes: Mapping[str, Change],
        most_reads: Sequence[int] = _MOST_READS,
        form: Form | None = None,
    ) -> str:
        """Apply the deltas that lead to a version. Returns the form and kind of the change.

        most_reads  limits for the reads of a statement before its plan is cut into steps; one is chosen
        form        the form to use; by default one is chosen
        """
        changed = frozenset(table for table, change in changes.items() if change) & self.plan.tables
        moving = self.plan.moments if today(version) != today(version - 1) else frozenset()
        if not changed and not moving:
            return "no_op"
        state = self.plan.state
        insert_only = not moving and not any(changes[table].deleted for table in changed)
        form = form or rng.choice(self.forms(insert_only))
        part = rng.choice(self.parts) if form == "replace" else ""
        change = state_change(state, form, changed | moving, self._sizes(rng), part)
        names, most = step_names(), rng.choice(most_reads)
        ranges = key_ranges(self.database, change, version) if rng.random() < 0.5 else KeyRanges()
        if change.staged is not None:
            sources = Sources(version, ranges.parts(change.staged))
            self._table(STAGED, self._stepped(change.staged, names, most, sources), sources)
        predicate = self._predicate(part) if form == "replace" else ""
        if form != "replace" or predicate:
            sources = Sources(version, ranges.parts(change.rows, change.staged))
            self._apply(change, self._stepped(change.rows, names, most, sources), sources, predicate)
        if isinstance(state, GroupState):
            self.entries = "several" if form == "append" else "one"
        return f"{form} {change.kind}"

    def forms(self, insert_only: bool) -> list[Form]:
        """The forms that are possible.

        insert_only  whether no table lost a row and no moment moved
        """
        state = self.plan.state
        grouped = isinstance(state, GroupState)
        forms: list[Form] = ["rewrite"]
        if state.linear if grouped else insert_only and keeps_append_only(self.plan.core):
            forms.append("append")
        if self.entries == "one" and not (grouped and not state.keys):
            forms += ["merge", *(["replace"] if self.parts else [])]
        return forms

    @property
    def parts(self) -> tuple[str, ...]:
        """Columns by which a part of the state can be replaced."""
        state = self.plan.state
        names = state.keys if isinstance(state, GroupState) else state.values
        return part_columns(self.database.fields("select * from state"), names)

    def _predicate(self, column: str) -> str:
        """The predicate of the state's changed part; empty if nothing changes."""
        part = find_part(self._engine, STAGED, "state", 0, (column,), exact=True)
        assert part is not None, "the values are few and simple"
        return part.predicate

    def _apply(self, change: StateChange, rows: Relation, sources: Sources, predicate: str) -> None:
        """Run the applying statement. Its rows are computed before."""
        self._table(_ROWS, rows, sources)
        names = ", ".join(map(quoted, rows.columns))
        select = f"select {names} from {_ROWS}"
        write = applying_statement(_STATE, self.plan.state, change, select, predicate)
        self._engine.execute(self._engine.render(write.macro, **write.arguments))

    def _sizes(self, rng: random.Random) -> Sizes:
        """Random sizes: all large, so that lookups are shared; different, so that some tables narrow others; or
        unknown.
        """
        tables = sorted(self.plan.tables)
        rows = {
            "unknown": {},
            "large": dict.fromkeys(tables, 1e8),
            "different": {table: 10.0 ** rng.randint(2, 8) for table in tables},
        }[rng.choice(("unknown", "large", "different"))]
        return Sizes(rows, dict.fromkeys(rows, rng.choice((10.0, 1e7))))

    def difference(self, version: int) -> str | None:
        """How the public view differs from the query; None if it does not."""
        have, want = self.visible(), self.database.rows(self.recomputation(version))
        ordered = self.totally_ordered and self.plan.finalizer.split.sort
        if ordered and len(have) == len(want) and not all(map(self.database.alike, have, want)):
            return f"have {have}, want {want}"
        return self.database.difference(have, want)

    def visible(self) -> list[tuple[Any, ...]]:
        """The rows of the public view."""
        return self.database.rows(self.plan.finalizer.text("state", self.entries, DUCKDB))

    def hidden(self, version: int) -> list[tuple[Any, ...]]:
        """The state's rows, one per group; sums without values are NULL."""
        state = self.plan.state
        folded = isinstance(state, GroupState) and self.entries == "several"
        stored = self._text(group_changes.folded(state), Sources(version)) if folded else "from state"
        return self._rows_of_state(stored)

    def delta(self, version: int, changed: frozenset[str]) -> list[tuple[Any, ...]]:
        """The rows that a refresh would merge into the state."""
        change = state_change(self.plan.state, "merge", changed & self.plan.tables, Sizes())
        rows = change.rows if change.staged is None else change.staged
        return self.database.rows(self._text(rows, Sources(version)))

    def state_difference(self, version: int) -> str | None:
        """The same for the hidden columns, compared with a newly built state."""
        state, shown = self.plan.state, self.plan.finalizer.split
        if not isinstance(state, GroupState) and shown.limit is None and shown.offset is None:
            return None  # everything in it is public
        return self.table_difference(version)

    def table_difference(self, version: int) -> str | None:
        """How the state table differs from a newly built state, including hidden columns."""
        want = self._rows_of_state(self._content(version))
        return self.database.difference(self.hidden(version), want)

    def _rows_of_state(self, text: str) -> list[tuple[Any, ...]]:
        """Rows in the state's shape. A sum of no values is NULL or 0 and has no meaning."""
        items = presented(self.plan.state, DUCKDB)
        return self.database.rows(f"select {', '.join(items)} from ({text}) as held")

    def _types_of(self, relation: Relation) -> tuple[SparkType, ...]:
        text = select_text(relation, Sources(0), DUCKDB)
        return tuple(field.spark_type for field in self.database.fields(text))

    def _content(self, version: int) -> str:
        """The query of a new state; printed once for all worlds."""
        if version not in self._contents:
            self._contents[version] = self._text(self.plan.content, Sources(version))
        return self._contents[version]

    def _text(self, relation: Relation, sources: Sources) -> str:
        return select_text(prune_empty(relation), sources, DUCKDB)

    def _table(self, name: str, relation: Relation, sources: Sources) -> None:
        self.database.execute(f"create or replace table {name} as {self._text(relation, sources)}")

    def _stepped(
        self, relation: Relation, names: Iterator[str], most_reads: int, sources: Sources
    ) -> Relation:
        """Run a relation's steps. Returns what is left of it."""
        steps = in_steps(prune_empty(relation), names, most_reads)
        for step in steps.tables:
            self._table(step.name, step.relation, sources)
        return steps.rest


def fields_of(database: Embedded, sql: str) -> tuple[Field, ...]:
    """The columns of a model, which is not compiled."""
    tree = parse_model("model", sql)
    return database.fields(_at(0, _recomputation(tree, database.catalog.tables)))


def _at(version: int, recomputation: str) -> str:
    text = recomputation.replace(_TODAY, today(version).sql("duckdb"))
    return text.replace(_VERSION, f"_{version}")


def _recomputation(tree: exp.Expr, tables: Collection[str]) -> str:
    """The query for the embedded engine, with placeholders for the version and the date."""
    return _versioned(_as_spark_groups(with_chosen_rows(tree)), tables).sql(dialect="duckdb")


def _as_spark_groups(tree: exp.Expr) -> exp.Expr:
    """For GROUPING SETS over empty input, Spark has no group: it makes a row per set and input row, then groups."""
    tree = tree.copy()
    for group in tree.find_all(exp.Group):
        select = group.parent
        if isinstance(select, exp.Select) and list(group.find_all(exp.Rollup, exp.Cube, exp.GroupingSets)):
            select.having("count(*) > 0", copy=False)
    return tree


def _versioned(tree: exp.Expr, tables: Collection[str]) -> exp.Expr:
    """The query with placeholders after its tables' names and for the date. CTEs have other names."""
    tree = tree.transform(lambda node: exp.column(_TODAY) if isinstance(node, exp.CurrentDate) else node)
    for table in tree.find_all(exp.Table):
        if table.name in tables:
            alias = table.alias or table.name
            table.set("this", exp.to_identifier(table.name + _VERSION))
            table.set("alias", exp.TableAlias(this=exp.to_identifier(alias)))
    return tree


def presented(state: State, dialect: SqlDialect) -> list[str]:
    """The items of a SELECT from a state; a sum of no values becomes NULL."""
    entries = [e for e in state.columns if e.linear] if isinstance(state, GroupState) else []
    values = {entry.name: entry.presented() for entry in entries}
    return [
        f"{values.get(name, column(name)).sql(dialect.scalars)} as {dialect.name(name)}"
        for name in state.names
    ]
