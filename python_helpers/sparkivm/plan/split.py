"""query = finalizer(core): the core is stored, readers of the view compute the finalizer."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from sparkivm.algebra import Aggregate, Filter, Project, Relation, Scalar, Window
from sparkivm.algebra.moment import moments
from sparkivm.algebra.query import Query, SortKey
from sparkivm.algebra.scalar import column, conjunction
from sparkivm.plan.run_constants import without_run_constants


@dataclass(frozen=True)
class Split:
    """The two halves.

    core     the Aggregate at the query's top, if there is one, else the whole relation
    windows  window functions over the core's groups, and operators between them, if readers compute them
    output   the public columns in order, as expressions over the columns of `windows`, or else the core
    having   the condition for a row to be public
    """

    core: Relation
    windows: Relation | None
    output: tuple[Scalar, ...]
    having: Scalar | None
    sort: tuple[tuple[Scalar, SortKey], ...]
    limit: int | None
    offset: int | None

    @property
    def takes_all(self) -> bool:
        """Whether all rows that satisfy `having` are public."""
        return self.limit is None and self.offset is None


def split(query: Query, kept: Collection[str] = ()) -> Split:
    """Cut below what is above the topmost Aggregate: projections, HAVING, windows over all groups.

    Without an Aggregate at the top, the core is everything except constant columns. What reads a moment is
    stored: in the public view it would have the moment of the reader's query.

    kept  columns of the query that the core always has
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
    windows = node if isinstance(node, Window) else None
    core = _grouped(windows) if windows else node
    if not isinstance(core, Aggregate):
        windows, having = None, []
        core, constants = without_run_constants(query.root, kept)
        scalars = {name: column(name) for name in core.columns} | constants
    return Split(
        core,
        windows,
        tuple(scalars[name] for name in query.output),
        conjunction(having),
        tuple((scalars[key.column], key) for key in query.sort),
        query.limit,
        query.offset,
    )


def _grouped(windows: Window) -> Aggregate | None:
    """The groups below windows that read all groups: a stored window of this kind is rewritten as a whole.

    None if there are no groups, or if each window reads only the groups that share some keys: then only
    changed partitions are rewritten.
    """
    chain = list(_chain(windows))
    core = chain[-1]
    if not isinstance(core, Aggregate) or any(map(_moving, chain[:-1])):
        return None
    keys = frozenset(core.keys)
    by_keys = True
    for node in reversed(chain[:-1]):
        if isinstance(node, Project):
            keys = frozenset(name for name, scalar in node.items if scalar.as_column in keys)
        elif isinstance(node, Window):
            by_keys &= bool(node.partition) and keys.issuperset(node.partition)
    return None if by_keys else core


def _chain(node: Relation) -> Iterator[Relation]:
    """A chain of windows, projections and filters, then the relation below it."""
    yield node
    if isinstance(node, (Project, Filter, Window)):
        yield from _chain(node.input)


def _moving(node: Relation) -> bool:
    return any(map(moments, node.scalars))
