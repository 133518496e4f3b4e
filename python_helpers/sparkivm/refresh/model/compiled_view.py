"""A model compiled against the catalog as it is now.

tested  tests/refresh/test_reasons.py, tests/unit/test_sql_header.py
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType

from sqlglot import exp

from sparkivm.algebra import Aggregate, Relation, Scan
from sparkivm.algebra.columns_read import columns_read
from sparkivm.algebra.query import Query
from sparkivm.algebra.relation import Columns
from sparkivm.changes.frontier import Frontier, SourceFrontier
from sparkivm.changes.state_columns import StateColumns, columns_of
from sparkivm.digest import digest
from sparkivm.engine import Engine, EngineError, Field, RelationFacts
from sparkivm.errors import ModelError, NotIncremental, UnknownName
from sparkivm.formats import format_of
from sparkivm.frontend.accepted_expressions import repeatable
from sparkivm.frontend.called_functions import called_functions
from sparkivm.frontend.parse import not_too_deep, parse_model
from sparkivm.frontend.place import not_understood
from sparkivm.frontend.query import read_query
from sparkivm.frontend.scope import NameAllocator
from sparkivm.frontend.table_references import names_in, table_references
from sparkivm.names import TableName
from sparkivm.plan.auxiliary import can_be_view, read_below_join, read_from_auxiliaries
from sparkivm.plan.compile_model import ViewPlan, compile_query
from sparkivm.plan.map_columns import map_types
from sparkivm.plan.order_dependent import Decided, decided_by_order
from sparkivm.plan.origin_types import origin_types
from sparkivm.plan.split import Split
from sparkivm.plan.stamps import CannotStamp
from sparkivm.plan.state_evolution import content_of
from sparkivm.reasons import Fallback, Reason
from sparkivm.refresh.model.gate import (
    check_columns_are_counted,
    check_plan_is_understood,
    check_text_is_understood,
)
from sparkivm.refresh.model.inlined_views import check_view_is_understood, is_what_its_text_says
from sparkivm.refresh.model.model_query import model_fields
from sparkivm.refresh.model.state_layout import layout_in_state
from sparkivm.refresh.request import RefreshRequest
from sparkivm.refresh.session.session_settings import refuse_other_meanings
from sparkivm.refresh.sources.source_catalog import SourceCatalog, columns_hash, view_hash
from sparkivm.refresh.sources.sources import Sources
from sparkivm.refresh.sources.types_of_rows import (
    check_comparable,
    check_groupable,
    check_inner_keys,
    check_keys,
    check_stored,
)
from sparkivm.spark.data_types import SparkType, spark_type
from sparkivm.spark_sql.relations import select_text
from sparkivm.spark_sql.source_texts import PlainTexts


@dataclass(frozen=True)
class CompiledView:
    """`plan` is None if the view cannot be maintained incrementally; `fallback` says why."""

    fields: tuple[Field, ...]
    plan: ViewPlan | None
    fallback: Fallback | None
    tables: Mapping[str, RelationFacts]
    views: Mapping[str, str]  # key -> hash of the view's text
    schemas: Mapping[str, str]
    types: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    tree: exp.Query | None = None
    complete: bool = True  # whether the rows depend on `tables` alone
    auxiliaries: Mapping[str, TableName] = field(default_factory=dict)  # by their queries
    adds_up_auxiliary: bool = False  # the only auxiliary view shows entries
    behind: frozenset[str] = frozenset()  # keys of the tables that auxiliaries read
    called: frozenset[str] = frozenset()  # Spark's own functions
    decided: Decided | None = None  # what needs auxiliary views that are missing
    catalog: SourceCatalog | None = field(default=None, repr=False)
    stored: StateColumns = ()  # columns of a new state

    @property
    def columns(self) -> StateColumns:
        """The columns of a new state."""
        return columns_of(self.fields) if self.plan is None else self.stored

    @property
    def resolved(self) -> Mapping[str, str]:
        """As in a frontier."""
        if self.catalog is None:
            return {}
        return self.catalog.resolved | {f"{name}()": "" for name in sorted(self.called)}

    @property
    def fields_read(self) -> dict[str, dict[str, str]]:
        """For each table the columns that the plan reads, with ids: another column may get such a name."""
        read = {} if self.plan is None else columns_read(self.plan.core, Scan)
        return {
            key: {f.name: format_of(facts).identity(f) for f in facts.fields if f.name in read.get(key, ())}
            for key, facts in self.tables.items()
        }

    @cached_property
    def plan_hash(self) -> str:
        """A hash of the query's meaning, not of its text; without constants of the public view."""
        if self.plan is None:
            return digest(repr([(f.name, f.type) for f in self.fields]) + repr(sorted(self.schemas.items())))
        core = select_text(self.plan.core, PlainTexts())
        finalizer = self.plan.finalizer.without_run_constants
        return digest(core + finalizer.text("state", "one") + repr([(f.name, f.type) for f in self.fields]))

    def content_hash(self, columns: Iterable[str], named: Mapping[str, str] = MappingProxyType({})) -> str:
        """A hash of the meaning of some columns of the state.

        named  other keys for some tables
        """
        assert self.plan is not None
        return digest(select_text(content_of(self.plan, columns, named), PlainTexts()))


def compile_view(
    engine: Engine,
    sources: Sources,
    request: RefreshRequest,
    frontier: Frontier | None = None,
    auxiliaries: Mapping[str, TableName] = MappingProxyType({}),
    versions: Mapping[str, SourceFrontier] = MappingProxyType({}),
) -> CompiledView:
    """Compile the model of a request.

    frontier     of the state; it has Spark's answers for the same text over the same columns
    auxiliaries  views that inner aggregates are read from, by their queries
    versions     of sources, by their keys, to compile at instead of the newest
    Raises: ModelError if Spark rejects the model, it can never be a view, its rows cannot be stamped, or its
    state cannot be stored as its options say.
    """
    catalog = SourceCatalog(sources, request.view, request.state, versions)
    compiled = _compiled(engine, request, catalog, frontier, auxiliaries)
    if request.stamp_columns and (why := compiled.fallback) is not None:
        raise ModelError(
            request.view,
            f"stamp_columns is set, but the view is not incremental, so each run would stamp all rows: {why}",
            why.reason.way_out,
            why.place,
        )
    layout_in_state(request, compiled)  # raises if the state cannot have it
    return compiled


def _compiled(
    engine: Engine,
    request: RefreshRequest,
    catalog: SourceCatalog,
    frontier: Frontier | None,
    auxiliaries: Mapping[str, TableName],
) -> CompiledView:
    model, sql = request.view, request.sql
    try:
        if request.header.fallback is not None:
            raise NotIncremental(request.header.fallback)
        refuse_other_meanings(engine)
        with not_too_deep():
            tree = parse_model(model, sql)
    except NotIncremental as error:
        fields = model_fields(engine, model, sql)
        return CompiledView(fields, None, error.fallback, {}, {}, {}, complete=False)
    names = NameAllocator()
    unread: NotIncremental | None = None
    try:
        with not_too_deep():
            query = read_query(tree, catalog, names=names)
        if any(field.char_length for facts in catalog.tables.values() for field in facts.fields):
            refuse_other_meanings(engine, of_char=True)
        views_read = {text: _rows_of(view, catalog, names) for text, view in auxiliaries.items()}
    except NotIncremental as error:
        unread = error
        if repeatable(tree):
            _look_all_up(tree, catalog)
    called = _called(sql, catalog)
    foreign = engine.foreign_functions(called)
    if foreign and unread is None:
        unread = _calls_function_of_user(min(foreign))
    schemas = {key: columns_hash(facts) for key, facts in (catalog.tables | catalog.views).items()}
    views = {key: view_hash(facts) for key, facts in catalog.views.items()}
    known = frontier if frontier and _answers_are_known(frontier, sql, schemas, views) else None
    fields = (
        tuple(Field(name, type_) for name, type_ in known.fields)
        if known
        else model_fields(engine, model, sql)
    )
    is_new = known is None or known.kind == "full"  # refused views are checked again
    types_of = _TypesOf(engine, _live_texts(catalog), {} if known is None or is_new else known.types)
    unplanned = CompiledView(
        fields, None, None, dict(catalog.tables), views, schemas, tree=tree, called=called - foreign,
        catalog=catalog,
    )  # fmt: skip
    try:
        with not_too_deep():
            if unread is not None:
                raise unread
            check_comparable(fields)
            if is_new:
                check_text_is_understood(engine, sql, tree)
                for facts in catalog.views.values():
                    check_view_is_understood(engine, facts, catalog)
            with _refusals_of_spark():
                view = replace(unplanned, auxiliaries=auxiliaries)
                compiled = _planned(engine, request, view, query, types_of, views_read, is_new)
    except CannotStamp as error:
        raise ModelError(model, error.what, error.do) from None
    except NotIncremental as error:
        complete = (
            repeatable(tree)
            and not isinstance(error, UnknownName)
            and not engine.variables(names_in(tree))
            and _look_all_up(tree, catalog)
            and not foreign
            and all(is_what_its_text_says(engine, facts, catalog) for facts in catalog.views.values())
        )
        tables = dict(catalog.tables)  # it may have looked more up
        return replace(unplanned, fallback=error.fallback, tables=tables, complete=complete)
    if known is not None and not is_new:
        assert compiled.plan is not None
        compiled = replace(compiled, stored=_known_types(compiled.plan, known))
        if compiled.plan_hash != known.plan:  # another version of us reads the text in another way
            return _compiled(engine, request, catalog, None, auxiliaries)
    return compiled


def _called(sql: str, catalog: SourceCatalog) -> frozenset[str]:
    """The functions that a model calls, also through plain views."""
    return called_functions(sql).union(*(called_functions(view.view_text) for view in catalog.views.values()))


def _calls_function_of_user(name: str) -> NotIncremental:
    """We cannot observe changes of its body."""
    return NotIncremental(Reason.EXPRESSION_NOT_SUPPORTED, f"{name.lstrip('.')} is a user-defined function")


def _answers_are_known(
    frontier: Frontier, sql: str, schemas: Mapping[str, str], views: Mapping[str, str]
) -> bool:
    """Whether the frontier has Spark's answers for this text and these columns."""
    return frontier.text == digest(sql) and frontier.schemas == schemas and frontier.views == views


@dataclass
class _TypesOf:
    """Spark's types of a relation's columns; answers of the last compilation are reused.

    known, asked  types by a hash of the relation's text
    """

    engine: Engine
    texts: PlainTexts
    known: Mapping[str, tuple[str, ...]]
    asked: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def __call__(self, relation: Relation) -> tuple[SparkType, ...]:
        text = select_text(relation, self.texts)
        question = digest(text)
        answer = self.asked.get(question) or self.known.get(question)
        if answer is None:
            answer = tuple(f.type for f in self.engine.schema_of(text))
        self.asked[question] = answer
        return tuple(map(spark_type, answer))


def _planned(
    engine: Engine,
    request: RefreshRequest,
    view: CompiledView,
    query: Query,
    types_of: _TypesOf,
    views_read: Mapping[str, tuple[Relation, Columns]],
    is_new: bool,
) -> CompiledView:
    """The view with its plan, and those of its auxiliary views that the plan reads.

    views_read  relations of auxiliary views, by the queries that they compute
    is_new      whether Spark has not analysed the plan of this text before
    Raises: NotIncremental; CannotStamp; EngineError if Spark rejects a part.
    """
    catalog = view.catalog
    assert catalog is not None
    replaced: dict[str, Aggregate] = {}  # aggregates that are read from auxiliary views, by their queries
    adds_up = False

    def text_of(relation: Relation) -> str:
        return auxiliary_query(relation, catalog)

    def read_from_views(core: Relation) -> Relation:
        core, found = read_from_auxiliaries(core, text_of, views_read)
        replaced.update(found)
        return core

    def read_from_entries(halves: Split) -> Split:
        halves, found = read_below_join(halves, text_of, types_of, views_read)
        replaced.update(found)
        nonlocal adds_up
        adds_up = bool(found)
        return halves

    check_columns_are_counted(len(query.output), view.fields)
    plan = compile_query(
        query, view.fields, types_of, read_from_views, read_from_entries, request.layout.columns,
        request.stamp_columns,
    )  # fmt: skip
    check_groupable(engine, plan.core, catalog.tables)
    decided = decided_by_order(plan.written, types_of)
    if decided is not None and not (request.may_keep_views and _can_be_views(decided.by, catalog)):
        raise NotIncremental(decided.reason)
    tables = {key: table.fields for key, table in catalog.tables.items()}
    types = origin_types(plan.core, tables, types_of)
    check_inner_keys(plan.core, types, catalog.tables)
    plan = replace(plan, state=replace(plan.state, maps=map_types(types)))
    stored: tuple[Field, ...] = ()
    if is_new:
        state = f"(\n{select_text(plan.content, _live_texts(catalog))}\n)"
        check_plan_is_understood(engine, plan.finalizer.text(state, "one"), view.fields)
        stored = engine.schema_of(f"select * from {state} as state")
        check_keys(plan.state, stored)
        check_stored(stored)
    return replace(
        view,
        plan=plan,
        types=types_of.asked,
        auxiliaries={text: name for text, name in view.auxiliaries.items() if text in replaced},
        adds_up_auxiliary=adds_up,
        behind=frozenset().union(*(node.tables for node in replaced.values())),
        decided=decided,
        stored=columns_of(stored),
    )


@contextmanager
def _refusals_of_spark() -> Generator[None, None, None]:
    try:
        yield
    except EngineError as error:
        raise not_understood(f"Spark refuses a part of the view's plan: {error}") from error


def _known_types(plan: ViewPlan, known: Frontier) -> StateColumns:
    """The columns of a plan's state, with their types in the last state."""
    types = {name: type_ for name, type_, _ in known.columns}
    return tuple((name, types.get(name, ""), "") for name in plan.state.names)


def _can_be_views(nodes: Iterable[Aggregate], catalog: SourceCatalog) -> bool:
    return all(can_be_view(node) and is_over_named_tables(node, catalog.tables) for node in nodes)


def is_over_named_tables(relation: Relation, tables: Mapping[str, RelationFacts]) -> bool:
    """Whether none of its tables is a mirror, which plans have under its source's name."""
    return all(tables[key].mirror_of is None for key in relation.tables)


def auxiliary_query(relation: Relation, catalog: SourceCatalog) -> str:
    """A part of a plan as the query of a view."""
    return select_text(relation, _live_texts(catalog))


def _rows_of(view: TableName, catalog: SourceCatalog, names: NameAllocator) -> tuple[Relation, Columns]:
    query = read_query(parse_model(view, f"select * from {view.sql}"), catalog, names=names)
    return query.root, query.output


def _live_texts(catalog: SourceCatalog) -> PlainTexts:
    """Tables as they are now."""
    return PlainTexts(lambda table: catalog.tables[table].name.sql)


def _look_all_up(tree: exp.Query, catalog: SourceCatalog) -> bool:
    """Look up all tables of a query without plan: if none changes, the next refresh is a no-op."""
    references = table_references(tree)
    return references is not None and all(_look_up(reference.parts, (), catalog) for reference in references)


def _look_up(parts: tuple[str, ...], namespace: tuple[str, ...], catalog: SourceCatalog) -> bool:
    try:
        found = catalog.lookup(parts, namespace)
        if found.kind != "view":
            return True
        tree = parse_model(found.key, found.view_text)
    except NotIncremental:
        return False
    inner = table_references(tree)
    return (
        repeatable(tree)
        and inner is not None
        and all(_look_up(r.parts, found.view_namespace, catalog) for r in inner)
    )
