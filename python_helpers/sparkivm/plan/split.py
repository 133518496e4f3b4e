"""query = finalizer(core): the core is stored, the finalizer is computed by whoever reads the view."""

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

    core     an Aggregate, if the query has one at its top, else the whole relation
    windows  window functions over the core's groups, with what stands between, if readers compute them
    output   the public columns in order, as expressions over the columns of `windows`, or else the core
    having   what a row has to fulfill to be public
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
        """Whether all rows that `having` leaves are public."""
        return self.limit is None and self.offset is None


def split(query: Query, kept: Collection[str] = ()) -> Split:
    """Cut below what stands on the topmost Aggregate: projections, HAVING, windows over all groups.

    Without an Aggregate at the top, the core is all but the columns that are constants. What reads a moment
    is stored: the public view would have the moment at which it is read.

    kept  columns of the query that the core has in any case
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
    """The groups below windows that look at all of them: such a window would be written again as a whole.

    None if there are no groups, or if each window looks at the groups of some of their keys: then only
    partitions that changed are written again.
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
    """Windows, projections and filters over each other, and what they stand on."""
    yield node
    if isinstance(node, (Project, Filter, Window)):
        yield from _chain(node.input)


def _moving(node: Relation) -> bool:
    return any(map(moments, node.scalars))
