"""Several lookups in one large table become one reading of it.

A join of which all inputs change looks up the changes of each in all others, so a plan reads a large table
once for each of them. Here the lookups of a table are brought together: its rows that any of them asks for
are a slice, found in one pass, and each lookup reads the slice. That is right for any set of lookups, as
each still compares the keys; a lookup whose keys come out of a slice cannot be part of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from sparkivm.algebra import (
    At,
    Filter,
    InnerJoin,
    Lookup,
    Pair,
    Project,
    Relation,
    Restricted,
    Scan,
    Slice,
    UnionAll,
    Weigh,
)
from sparkivm.algebra.project import renamed
from sparkivm.algebra.scalar import equality
from sparkivm.names import RESERVED_PREFIX
from sparkivm.plan.join_order import BROADCAST_ROWS, RowEstimate, reads_changes

# Smaller tables are sliced only by the way.
_LARGE_ROWS = 200_000
# Fields that are not read again, of all rows together, that are worth the tables in which slices are kept:
# about 50 MB, a second.
_WORTH_SLICING = 12e6
_KEY = f"{RESERVED_PREFIX}key_"


def share_reads(relation: Relation, estimate: RowEstimate) -> Relation:
    """The same relation, large tables read once for as many of their lookups as can be."""
    slices = _assigned(relation, estimate)
    saved = sum(estimate(scan) * len(scan.fields) for one in slices for _, scan, _ in one.readers[1:])
    return _Rewrite(slices).visit(relation) if saved >= _WORTH_SLICING else relation


@dataclass(frozen=True)
class _Reader:
    """A node that looks keys up in one of its children."""

    node: Relation
    child: Relation  # a table, with filters, projections and its own changes around it
    keys: Relation
    pairs: tuple[Pair, ...]  # (column of `child`, column of `keys`)

    def lookup(self, scan: Scan) -> tuple[Pair, ...] | None:
        """The pairs over fields of the table, as far as they are columns of it."""
        names = _sources(self.child, scan)
        assert names is not None, "the scan is found below the child"
        return tuple(replace(pair, left=names[pair.left]) for pair in self.pairs if pair.left in names)


@dataclass(eq=False)
class _Slice:
    table: str
    readers: list[tuple[_Reader, Scan, tuple[Pair, ...]]] = field(default_factory=list)


def _assigned(relation: Relation, estimate: RowEstimate) -> list[_Slice]:
    """Slices that at least two lookups share."""
    slices: list[_Slice] = []
    direct: dict[int, frozenset[int]] = {}  # by node: indexes of the slices that it reads

    def reached(start: Iterable[int]) -> set[int]:
        found, waiting = set[int](), list(start)
        while waiting:
            index = waiting.pop()
            if index not in found:
                found.add(index)
                for reader, _, _ in slices[index].readers:
                    waiting += direct[id(reader.keys)]
        return found

    for node in relation.walk():  # children first
        mine = frozenset[int]().union(*(direct[id(child)] for child in node.children))
        for reader in _readers(node, estimate):
            for scan in _scans(reader.child):
                pairs = reader.lookup(scan)
                if not pairs or estimate(scan) < _LARGE_ROWS or not reads_changes(reader.keys):
                    continue
                above = reached(direct[id(reader.keys)])
                fitting = (i for i, one in enumerate(slices) if one.table == scan.table and i not in above)
                index = next(fitting, len(slices))
                if index == len(slices):
                    slices.append(_Slice(scan.table))
                slices[index].readers.append((reader, scan, pairs))
                mine |= {index}
        direct[id(node)] = mine
    return [one for one in slices if len(one.readers) > 1]


def _readers(node: Relation, estimate: RowEstimate) -> Iterator[_Reader]:
    match node:
        case Restricted() if not node.excluded and estimate(node.keys.source) <= BROADCAST_ROWS:
            pairs = tuple(Pair(column, key, null_safe=True) for column, key in node.keys.pairs)
            yield _Reader(node, node.input, node.keys.source, pairs)
        case InnerJoin(inputs=(one, other)) if node.broadcast is not None:
            keys, child = (one, other) if node.broadcast == 0 else (other, one)
            found = []
            for left, right, null_safe in filter(None, map(equality, node.predicates)):
                if left in child.columns and right in keys.columns:
                    found.append(Pair(left, right, null_safe))
                elif right in child.columns and left in keys.columns:
                    found.append(Pair(right, left, null_safe))
            if found:
                yield _Reader(node, child, keys, tuple(found))


def _scans(child: Relation) -> Iterator[Scan]:
    """Tables of which `child` is made row by row."""
    match child:
        case Scan(at=At.NEW):
            yield child
        case Filter() | Weigh() | Project():
            yield from _scans(child.input)
        case UnionAll():
            for one in child.inputs:
                yield from _scans(one)


def _sources(child: Relation, scan: Scan) -> dict[str, str] | None:
    """Columns of `child` that are fields of the scan below it, and the fields' names."""
    match child:
        case Scan():
            return dict(child.fields) if child is scan else None
        case Filter() | Weigh():
            return _sources(child.input, scan)
        case Project():
            below = _sources(child.input, scan)
            passed_on = {name: scalar.as_column for name, scalar in child.items}
            return below and {n: below[c] for n, c in passed_on.items() if c is not None and c in below}
        case UnionAll():
            return next((found for one in child.inputs if (found := _sources(one, scan)) is not None), None)
        case _:
            return None


class _Rewrite:
    def __init__(self, slices: list[_Slice]) -> None:
        self._slices = slices
        # by the reading node and the scan that it reads
        self._slice_of = {
            (id(reader.node), id(scan)): one for one in slices for reader, scan, _ in one.readers
        }
        self._child_of = {id(reader.node): reader.child for one in slices for reader, _, _ in one.readers}
        self._done: dict[int, Relation] = {}
        self._built: dict[int, Slice] = {}
        self._parts: dict[tuple[int, ...], Relation] = {}

    def visit(self, node: Relation) -> Relation:
        if id(node) not in self._done:
            looked_up = self._child_of.get(id(node))
            children = tuple(
                self._with_slices(child, node) if child is looked_up else self.visit(child)
                for child in node.children
            )
            self._done[id(node)] = node.with_children(children) if children else node
        return self._done[id(node)]

    def _with_slices(self, part: Relation, reader: Relation) -> Relation:
        """What `reader` looks up, over slices of its tables."""
        scans = list(_scans(part))
        found = [self._slice_of.get((id(reader), id(scan))) for scan in scans]
        key = (id(part), *map(id, found))
        if key not in self._parts:
            self._parts[key] = self._replaced(part, reader)
        return self._parts[key]

    def _replaced(self, part: Relation, reader: Relation) -> Relation:
        match part:
            case Scan():
                one = self._slice_of.get((id(reader), id(part)))
                return renamed(self._slice(one), part.fields) if one else part
            case Filter() | Weigh() | Project() | UnionAll():
                return part.with_children(tuple(self._replaced(child, reader) for child in part.children))
            case _:
                return self.visit(part)

    def _slice(self, one: _Slice) -> Slice:
        if id(one) not in self._built:
            fields = dict.fromkeys(source for _, scan, _ in one.readers for _, source in scan.fields)
            table = Scan(one.table, tuple((name, name) for name in fields))
            by_columns: dict[tuple[tuple[str, bool], ...], dict[tuple[object, ...], Relation]] = {}
            for reader, _, pairs in one.readers:
                compared = tuple((pair.left, pair.null_safe) for pair in pairs)
                columns = tuple(pair.right for pair in pairs)
                keys = self.visit(reader.keys)
                by_columns.setdefault(compared, {})[id(keys), columns] = renamed(
                    keys, ((f"{_KEY}{i}", name) for i, name in enumerate(columns))
                )
            self._built[id(one)] = Slice(
                table,
                tuple(
                    Lookup(
                        UnionAll(tuple(sources.values()))
                        if len(sources) > 1
                        else next(iter(sources.values())),
                        tuple(Pair(name, f"{_KEY}{i}", safe) for i, (name, safe) in enumerate(compared)),
                    )
                    for compared, sources in by_columns.items()
                ),
            )
        return self._built[id(one)]
