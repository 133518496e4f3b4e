"""An edited query may need no column that the state of the query before it cannot give.

The stored columns have to contain what the same columns of the new plan contain. Then the other columns may
be expressions over them, and no source is read.

tested  tests/refresh/test_edited_queries.py
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType

from sqlglot import exp

from sparkivm.algebra import Project, Relation, Scalar, Scan
from sparkivm.algebra.project import only
from sparkivm.algebra.relation import rewrite
from sparkivm.algebra.scalar import column, replace_nodes
from sparkivm.names import RESERVED_PREFIX
from sparkivm.normalize.pipeline import normalize
from sparkivm.plan.compile_model import ViewPlan
from sparkivm.plan.state import STATE, BagState

_STORED = f"{RESERVED_PREFIX}stored_"


def content_of(
    plan: ViewPlan, names: Iterable[str], named: Mapping[str, str] = MappingProxyType({})
) -> Relation:
    """Some columns of a plan's state, in the form that is the same for all plans that store the same.

    named  other keys for some tables
    """
    columns = tuple(names)

    def renamed(node: Relation) -> Relation:
        return replace(node, table=named.get(node.table, node.table)) if isinstance(node, Scan) else node

    content = normalize(only(rewrite(plan.content, renamed), columns), columns)
    return content if content.columns == columns else only(content, columns)


def from_stored_columns(plan: ViewPlan, known: Collection[str], usable: Collection[str]) -> Relation | None:
    """The content of a plan's state, computed from a state that has some of its columns.

    known   the columns that are stored
    usable  those of them that expressions may read
    Returns: a relation over the stored state; None if an added column needs more than that.
    """
    state = plan.state
    if not isinstance(state, BagState) or plan.moments:
        return None
    items = _formulas(plan.written)
    held_as = {items[mine]: name for name, mine in state.columns if name in usable and items[mine].columns}
    shown = [
        (name, column(_STORED + name) if name in known else _over(items[mine], held_as))
        for name, mine in state.columns
    ]
    held = frozenset(_STORED + name for name in known)
    if not all(scalar.columns <= held for _, scalar in shown):
        return None
    return Project(Scan(STATE, tuple((_STORED + name, name) for name in known)), tuple(shown))


def _formulas(relation: Relation) -> Mapping[str, Scalar]:
    """Each column as an expression over the relation below all projections."""
    items = {name: column(name) for name in relation.columns}
    while isinstance(relation, Project):
        below = dict(relation.items)
        items = {name: scalar.substitute(below) for name, scalar in items.items()}
        relation = relation.input
    return items


def _over(scalar: Scalar, held_as: Mapping[Scalar, str]) -> Scalar:
    """An expression with each part that is a stored column read from the state."""

    def replacement(node: exp.Expr) -> exp.Expr | None:
        # A name alone, for example of a struct's field, is no expression.
        name = held_as.get(Scalar(node)) if isinstance(node, exp.Condition) else None
        return None if name is None else column(_STORED + name).tree

    return Scalar(replace_nodes(scalar.tree, replacement))
