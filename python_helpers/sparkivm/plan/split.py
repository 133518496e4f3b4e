"""query = finalizer(core): the core is stored, the finalizer is computed by whoever reads the view."""

from __future__ import annotations

from dataclasses import dataclass

from sparkivm.algebra import Aggregate, Filter, Project, Relation, Scalar
from sparkivm.algebra.moment import moments
from sparkivm.algebra.query import Query, SortKey
from sparkivm.algebra.scalar import column, conjunction


@dataclass(frozen=True)
class Split:
    """The two halves.

    core    an Aggregate, if the query has one at its top, else the whole relation
    output  the public columns in order, as expressions over the core's columns
    having  what a row of the core has to fulfill to be public
    """

    core: Relation
    output: tuple[Scalar, ...]
    having: Scalar | None
    sort: tuple[tuple[Scalar, SortKey], ...]
    limit: int | None
    offset: int | None


def split(query: Query) -> Split:
    """Cut below everything that stands on the topmost Aggregate: projections and HAVING.

    What reads a moment is stored: the public view would have the moment at which it is read.
    """
    scalars = {name: column(name) for name in query.root.columns}
    having: list[Scalar] = []
    node = query.root
    while isinstance(node, (Project, Filter)) and not _moving(node):
        if isinstance(node, Filter):
            having.append(node.predicate)
        else:
            items = dict(node.items)
            scalars = {name: scalar.substitute(items) for name, scalar in scalars.items()}
            having = [predicate.substitute(items) for predicate in having]
        node = node.input
    if not isinstance(node, Aggregate):
        node, having = query.root, []
        scalars = {name: column(name) for name in query.root.columns}
    return Split(
        node,
        tuple(scalars[name] for name in query.output),
        conjunction(having),
        tuple((scalars[key.column], key) for key in query.sort),
        query.limit,
        query.offset,
    )


def _moving(node: Project | Filter) -> bool:
    scalars = [node.predicate] if isinstance(node, Filter) else [scalar for _, scalar in node.items]
    return any(map(moments, scalars))
