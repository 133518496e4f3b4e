"""Several lookups in one large table become one read of it.

If all inputs of a join change, the changes of each are looked up in all others, so a plan reads a large table
once for each of them. We combine a table's lookups: the rows that any of them needs form a slice, found in
one pass, and each lookup reads the slice. That is correct for any set of lookups, because each still compares
its keys; but a lookup whose keys come from a slice cannot be part of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from sparkivm.algebra import (
    At,
    Filter,
    InnerJoin,
    JoinCondition,
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
from sparkivm.algebra.memo import memoized
from sparkivm.algebra.project import renamed
from sparkivm.algebra.union_all import plus
from sparkivm.names import RESERVED_PREFIX
from sparkivm.plan.join_order import BROADCAST_ROWS, RowEstimate

# Smaller tables are not sliced.
_LARGE_ROWS = 200_000
# Slices are kept in tables. That pays if it saves reading this many fields, over all rows: about 50 MB, or
# one second.
WORTH_SLICING = 12e6
_KEY = f"{RESERVED_PREFIX}key_"


def share_reads(relation: Relation, estimate: RowEstimate) -> Relation:
    """The same relation, with each large table read once for as many of its lookups as possible."""
    slices = _assigned(relation, estimate)
    saved = sum(estimate(read.scan) * len(read.scan.fields) for one in slices for read in one[1:])
    return _Rewrite(slices).visit(relation) if saved >= WORTH_SLICING else relation


@dataclass(frozen=True)
class _Read:
    """A node that looks keys up in a table below one of its children."""

    node: Relation
    child: Relation  # the table with the filters, projections and own changes around it
    scan: Scan
    keys: Relation
    pairs: tuple[Pair, ...]  # (field of the table, column of `keys`), for keys that are compared with fields


# The lookups that share a slice.
_Reads = list[_Read]


def _assigned(relation: Relation, estimate: RowEstimate) -> list[_Reads]:
    """The slices that at least two lookups share; none depends on itself."""
    slices: list[_Reads] = []
    used: dict[int, frozenset[int]] = {}  # by node: indexes of the slices that it reads itself
    whole = _read_as_keys(relation, estimate)

    def needed(by: Relation) -> set[int]:
        found, waiting = set[int](), list(used[id(by)])
        while waiting:
            index = waiting.pop()
            if index not in found:
                found.add(index)
                for read in slices[index]:
                    waiting += used[id(read.keys)]
        return found

    for node in relation.walk():  # children first
        mine = frozenset[int]().union(*(used[id(child)] for child in node.children))
        for read in _reads(node, estimate):
            if id(read.scan) in whole:
                continue
            above = needed(read.keys)
            fitting = (
                i for i, one in enumerate(slices) if one[0].scan.table == read.scan.table and i not in above
            )
            index = next(fitting, len(slices))
            if index == len(slices):
                slices.append([])
            slices[index].append(read)
            mine |= {index}
        used[id(node)] = mine
    return [one for one in slices if len(one) > 1]


def _reads(node: Relation, estimate: RowEstimate) -> Iterator[_Read]:
    for child, keys, pairs in _lookups(node):
        if estimate(keys) > BROADCAST_ROWS or not estimate.reads_changes(keys):
            continue
        for scan, fields in _scans(child):
            compared = tuple(replace(pair, left=fields[pair.left]) for pair in pairs if pair.left in fields)
            if compared and estimate(scan) >= _LARGE_ROWS:
                yield _Read(node, child, scan, keys, compared)


def _read_as_keys(relation: Relation, estimate: RowEstimate) -> frozenset[int]:
    """Ids of tables that are used as a whole to restrict others: slicing them saves no read."""
    sources = (node.keys.source for node in relation.walk() if isinstance(node, Restricted))
    return frozenset(
        id(scan)
        for source in sources
        if not estimate.reads_changes(source)
        for scan in source.walk()
        if isinstance(scan, Scan)
    )


def _lookups(node: Relation) -> Iterator[tuple[Relation, Relation, tuple[Pair, ...]]]:
    """(restricted relation, keys, pairs of (restricted column, column of the keys))."""
    match node:
        case Restricted() if not node.excluded:
            yield node.input, node.keys.source, node.keys.comparisons
        case InnerJoin(inputs=(one, other)) if node.broadcast is not None:
            keys, child = (one, other) if node.broadcast == 0 else (other, one)
            on = JoinCondition.of(node.predicates, child.columns, keys.columns)
            yield child, keys, on.pairs


def _scans(child: Relation) -> Iterator[tuple[Scan, dict[str, str]]]:
    """Tables from which `child` is computed row by row, each with a map from its columns to fields."""
    match child:
        case Scan(at=At.NEW):
            yield child, dict(child.fields)
        case Filter() | Weigh():
            yield from _scans(child.input)
        case Project():
            passed_on = [(name, scalar.as_column) for name, scalar in child.items]
            for scan, fields in _scans(child.input):
                yield scan, {name: fields[of] for name, of in passed_on if of in fields}
        case UnionAll():
            for one in child.inputs:
                yield from _scans(one)


class _Rewrite:
    """The relation with each read of `slices` over its slice; shared parts stay shared."""

    def __init__(self, slices: list[_Reads]) -> None:
        self._slice_of = {(id(read.node), id(read.scan)): one for one in slices for read in one}
        self._child_of = {id(read.node): read.child for one in slices for read in one}
        self._built: dict[int, Slice] = {}
        self._parts: dict[tuple[int, ...], Relation] = {}

    @memoized
    def visit(self, node: Relation) -> Relation:
        looked_up = self._child_of.get(id(node))
        children = tuple(
            self._with_slices(child, node) if child is looked_up else self.visit(child)
            for child in node.children
        )
        return node.with_children(children) if children else node

    def _with_slices(self, part: Relation, reader: Relation) -> Relation:
        """The part in which `reader` looks up keys, over slices of its tables."""
        found = [self._slice_of.get((id(reader), id(scan))) for scan, _ in _scans(part)]
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

    def _slice(self, reads: _Reads) -> Slice:
        if id(reads) not in self._built:
            fields = dict.fromkeys(field for read in reads for _, field in read.scan.fields)
            table = Scan(reads[0].scan.table, tuple((name, name) for name in fields))
            self._built[id(reads)] = Slice(table, tuple(self._by_fields(reads)))
        return self._built[id(reads)]

    def _by_fields(self, reads: _Reads) -> Iterator[Lookup]:
        """One lookup for all keys that are compared with the same fields."""
        keys: dict[tuple[tuple[str, bool], ...], dict[tuple[int, tuple[str, ...]], Relation]] = {}
        for read in reads:
            compared = tuple((pair.left, pair.null_safe) for pair in read.pairs)
            columns = tuple(pair.right for pair in read.pairs)
            source = self.visit(read.keys)
            named = renamed(source, ((f"{_KEY}{i}", name) for i, name in enumerate(columns)))
            keys.setdefault(compared, {}).setdefault((id(source), columns), named)
        for compared, sources in keys.items():
            pairs = (Pair(field, f"{_KEY}{i}", null_safe) for i, (field, null_safe) in enumerate(compared))
            yield Lookup(plus(*sources.values()), tuple(pairs))
