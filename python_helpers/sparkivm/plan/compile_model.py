"""A query → the plan of a view: what it stores, and what it presents."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from functools import partial

from sparkivm.algebra import Aggregate, Relation, Scalar
from sparkivm.algebra.moment import is_moment
from sparkivm.algebra.project import only, renamed
from sparkivm.algebra.query import Query
from sparkivm.algebra.sql_expression import expression
from sparkivm.engine import Field
from sparkivm.names import RESERVED_PREFIX
from sparkivm.normalize.pipeline import Pass, Trace, normalization, traced
from sparkivm.plan.align_unions import align_unions
from sparkivm.plan.distinct_arguments import taken_apart, with_distinct_arguments_apart
from sparkivm.plan.exact_equalities import with_exact_equalities
from sparkivm.plan.finalizer import Finalizer
from sparkivm.plan.inner_totals import with_inner_totals
from sparkivm.plan.narrow_integers import with_narrow_integers
from sparkivm.plan.run_constants import is_run_constant
from sparkivm.plan.split import Split, split
from sparkivm.plan.stamps import CannotStamp, Stamp, stamped, with_stamps
from sparkivm.plan.state import BagState, GroupState, State, group_state, groups_of
from sparkivm.plan.types_of import TypesOf


@dataclass(frozen=True)
class ViewPlan:
    """What a view stores and how it is read. A refresh derives its statements from this.

    written  the core as the query has it, without what only its changes need: a rebuild computes this
    trace    the query, and the relation after each pass, up to the core
    """

    state: State
    finalizer: Finalizer
    written: Relation
    trace: Trace

    @property
    def core(self) -> Relation:
        return self.state.core

    @property
    def content(self) -> Relation:
        """The content of the state table after a rebuild."""
        return stamped(self._values, self.state.stamps)

    @property
    def _values(self) -> Relation:
        if isinstance(self.state, BagState):
            return renamed(self.written, self.state.columns)
        assert isinstance(self.written, Aggregate), "a state of groups is an aggregate's"
        apart = None if self.written.calls == self.state.core.calls else taken_apart(self.written)
        return apart.groups(self.state) if apart else groups_of(self.state, self.written.input)

    @property
    def tables(self) -> frozenset[str]:
        """Keys of the sources."""
        return frozenset(key for key in self.core.tables if not is_moment(key))

    @property
    def moments(self) -> frozenset[str]:
        """Keys of the moments that the stored rows depend on."""
        return self.core.tables - self.tables


def compile_query(
    query: Query,
    fields: tuple[Field, ...],
    types_of: TypesOf,
    read_from_views: Callable[[Relation], Relation] = lambda core: core,
    read_below_join: Callable[[Split], Split] = lambda halves: halves,
    laid_out_by: Collection[str] = (),
    stamp_columns: Collection[str] = (),
) -> ViewPlan:
    """The plan of a query.

    fields    the public columns, as Spark names and types them for the user's text
    types_of  Spark's types of a relation's columns: compared ones, branches of UNION ALL, and arguments of
              aggregates
    read_from_views  the core with parts read from the auxiliary views that keep them
    read_below_join  the halves in the other form of the groups, if an auxiliary view has the inner groups
    laid_out_by  public columns, in lower case, that the state has even if they are constants
    stamp_columns  public columns that say which refresh last changed the row
    Raises: CannotStamp.
    """
    columns = query.root.columns
    of_query: tuple[Pass, ...] = (
        ("exact_equalities", partial(with_exact_equalities, types_of=types_of)),
        # Before predicates are pushed below a UNION: there they need the types of the whole.
        ("align_unions", partial(align_unions, types_of=types_of)),
        *normalization(columns),
        ("order_columns", lambda root: root if root.columns == columns else only(root, columns)),
    )
    trace = traced("query", query.root, of_query)
    named = zip(query.output, fields, strict=True)
    kept = [name for name, field in named if field.name.lower() in laid_out_by]
    halves = split(replace(query, root=trace[-1].relation), kept)
    halves = with_narrow_integers(read_below_join(halves), types_of)
    halves, stamps = with_stamps(halves, query, fields, stamp_columns)
    written = read_from_views(halves.core)
    of_core: tuple[Pass, ...] = (
        ("distinct_arguments", partial(with_distinct_arguments_apart, types_of=types_of)),
        ("auxiliary_views", read_from_views),
        ("inner_totals", partial(with_inner_totals, types_of=types_of)),
    )
    trace += traced("split", halves.core, of_core)
    halves = replace(halves, core=trace[-1].relation)
    state = _state(halves, fields, types_of, stamps)
    return ViewPlan(state, Finalizer(halves, state, fields), written, trace)


def _state(halves: Split, fields: tuple[Field, ...], types_of: TypesOf, stamps: tuple[Stamp, ...]) -> State:
    core = halves.core
    if isinstance(core, Aggregate):
        groups = group_state(core, types_of)
        return replace(groups, stamps=stamps, shown=_shown(halves, groups, stamps)) if stamps else groups
    not_of_core = {stamp.name for stamp in stamps}
    names: dict[str, str] = {}
    for scalar, field in zip(halves.output, fields, strict=True):
        if not is_run_constant(scalar) and scalar.as_column not in not_of_core:
            names[field.name] = _column_of(scalar)
    for index, (scalar, _) in enumerate(halves.sort):
        if is_run_constant(scalar) or scalar.as_column in not_of_core:
            continue
        if _column_of(scalar) not in names.values():
            if stamps:
                raise CannotStamp(
                    "stamp_columns is set, but ORDER BY reads a value that is not a column of the view: if "
                    "only this value changes, the stored row changes",
                    "select the value, or leave ORDER BY out",
                )
            names[f"{RESERVED_PREFIX}sort_{index + 1}"] = _column_of(scalar)
    return BagState(core, tuple(names.items()), stamps)


def _shown(halves: Split, groups: GroupState, stamps: tuple[Stamp, ...]) -> tuple[Scalar, ...]:
    """What decides whether a group's row changed: its public columns, and whether it is public."""
    names, formulas = {stamp.name for stamp in stamps}, dict(groups.formulas)
    output = [s for s in halves.output if not is_run_constant(s) and s.as_column not in names]
    having = [] if halves.having is None else [expression("coalesce(h, false)", h=halves.having)]
    return tuple(scalar.substitute(formulas) for scalar in (*output, *having))


def _column_of(scalar: Scalar) -> str:
    name = scalar.as_column
    assert name is not None, "a bag's output is columns of its core"
    return name
