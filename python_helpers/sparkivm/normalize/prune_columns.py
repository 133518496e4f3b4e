"""Columns that nothing reads are left out, down to the scans: updates of them then change nothing.

What stands in a plan several times keeps the columns that any of its readers needs, and stays one part.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from sparkivm.algebra import (
    Aggregate,
    Call,
    Changes,
    Columns,
    Consolidate,
    Copies,
    Empty,
    Filter,
    FullJoin,
    Generate,
    InnerJoin,
    LeftJoin,
    OneRow,
    Project,
    Relation,
    Repeat,
    Restricted,
    Scalar,
    Scan,
    SemiJoin,
    Slice,
    UnionAll,
    Unweigh,
    Weigh,
    Window,
    operator,
)
from sparkivm.algebra.project import only
from sparkivm.errors import InternalError, no_rule


def prune_columns(relation: Relation, needed: Iterable[str]) -> Relation:
    """The relation with at least the columns in `needed`, in an order of its own."""
    wanted: dict[int, set[str]] = {id(node): set() for node in relation.walk()}
    wanted[id(relation)] |= set(needed)
    for node in reversed(list(relation.walk())):  # readers first
        for child, read in zip(node.children, _read_of_children(node, wanted[id(node)]), strict=True):
            wanted[id(child)] |= read
    pruned: dict[int, Relation] = {}
    for node in relation.walk():  # children first
        children = [pruned[id(child)] for child in node.children]
        pruned[id(node)] = _pruned(node, wanted[id(node)], children)
    return pruned[id(relation)]


def _read_of_children(node: Relation, wanted: Collection[str]) -> list[set[str]]:
    """The columns of each child that are read for the columns in `wanted`."""
    node = operator(node)
    read = set(wanted)
    match node:
        case Scan() | Changes() | OneRow() | Empty():
            return []
        case Filter():
            return [read | node.predicate.columns]
        case Generate():
            return [read.difference(node.names) | node.generator.columns]
        case Repeat():
            return [read | node.times.columns]
        case Project():
            return [set().union(*(scalar.columns for _, scalar in _items(node, wanted)))]
        case UnionAll():
            positions = [node.columns.index(name) for name in _columns_of_union(node, wanted)]
            return [{child.columns[position] for position in positions} for child in node.inputs]
        case InnerJoin():
            return [read.union(*(predicate.columns for predicate in node.predicates)) for _ in node.inputs]
        case LeftJoin() | FullJoin() | SemiJoin():
            return [read | node.on.columns] * 2
        case Window():
            calls = [call for call in node.calls if call.name in wanted]
            if not calls:
                return [read]
            return [read.union(node.partition, *(call.columns for call in calls))]
        case Aggregate():
            arguments = (c.argument.columns for c in _calls(node, wanted) if c.argument is not None)
            return [set(node.keys).union(*arguments)]
        case Restricted() | Slice() | Weigh() | Consolidate() | Copies() | Unweigh():
            raise InternalError("columns are pruned before a query is derived")
        case _:
            raise no_rule(node)


def _pruned(node: Relation, wanted: Collection[str], children: Sequence[Relation]) -> Relation:
    """The operator over its pruned children, without what it does for columns that are not wanted."""
    match node:
        case Scan() | Changes():
            return replace(node, fields=tuple(f for f in node.fields if f[0] in wanted))
        case Project():
            return Project(children[0], _items(node, wanted))
        case UnionAll():
            columns = _columns_of_union(node, wanted)
            positions = [node.columns.index(name) for name in columns]
            own = [tuple(child.columns[position] for position in positions) for child in node.inputs]
            return UnionAll(
                tuple(
                    child if child.columns == names else only(child, names)
                    for child, names in zip(children, own, strict=True)
                )
            )
        case Window():
            calls = tuple(call for call in node.calls if call.name in wanted)
            return replace(node, input=children[0], calls=calls) if calls else children[0]
        case Aggregate():
            return replace(node, input=children[0], calls=_calls(node, wanted))
        case _:
            return node.with_children(tuple(children)) if children else node


def _items(node: Project, wanted: Collection[str]) -> tuple[tuple[str, Scalar], ...]:
    return tuple(item for item in node.items if item[0] in wanted) or node.items[:1]


def _columns_of_union(node: UnionAll, wanted: Collection[str]) -> Columns:
    return tuple(name for name in node.columns if name in wanted) or node.columns[:1]


def _calls(node: Aggregate, wanted: Collection[str]) -> tuple[Call, ...]:
    return tuple(call for call in node.calls if call.name in wanted)
