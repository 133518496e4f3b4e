"""Columns that nothing reads are left out, down to the scans: updates of them then change nothing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from sparkivm.algebra import (
    Aggregate,
    Changes,
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
    wanted = frozenset(needed)
    relation = operator(relation)
    match relation:
        case Scan() | Changes():
            return replace(relation, fields=tuple(f for f in relation.fields if f[0] in wanted))
        case Filter():
            return replace(relation, input=prune_columns(relation.input, wanted | relation.predicate.columns))
        case Generate():
            read = wanted.difference(relation.names) | relation.generator.columns
            return replace(relation, input=prune_columns(relation.input, read))
        case Repeat():
            return replace(relation, input=prune_columns(relation.input, wanted | relation.times.columns))
        case Project():
            items = tuple(item for item in relation.items if item[0] in wanted) or relation.items[:1]
            read = frozenset().union(*(scalar.columns for _, scalar in items))
            return Project(prune_columns(relation.input, read), items)
        case UnionAll():
            columns = tuple(c for c in relation.columns if c in wanted) or relation.columns[:1]
            pruned = (prune_columns(child, columns) for child in relation.inputs)
            return UnionAll(
                tuple(child if child.columns == columns else only(child, columns) for child in pruned)
            )
        case InnerJoin():
            read = wanted.union(*(predicate.columns for predicate in relation.predicates))
            return relation.with_children(tuple(prune_columns(child, read) for child in relation.inputs))
        case LeftJoin() | FullJoin() | SemiJoin():
            read = wanted | relation.on.columns
            return relation.with_children(
                (prune_columns(relation.left, read), prune_columns(relation.right, read))
            )
        case Window():
            return _prune_window(relation, wanted)
        case Aggregate():
            calls = tuple(call for call in relation.calls if call.name in wanted)
            read = frozenset(relation.keys).union(
                *(c.argument.columns for c in calls if c.argument is not None)
            )
            return replace(relation, input=prune_columns(relation.input, read), calls=calls)
        case Restricted() | Slice() | Weigh() | Consolidate() | Copies() | Unweigh():
            raise InternalError("columns are pruned before a query is derived")
        case OneRow() | Empty():
            return relation
        case _:
            raise no_rule(relation)


def _prune_window(window: Window, wanted: frozenset[str]) -> Relation:
    calls = tuple(call for call in window.calls if call.name in wanted)
    if not calls:
        return prune_columns(window.input, wanted)
    read = frozenset(window.partition).union(wanted, *(call.columns for call in calls))
    return replace(window, input=prune_columns(window.input, read), calls=calls)
