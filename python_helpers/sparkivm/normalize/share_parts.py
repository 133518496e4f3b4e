"""Groups that a query reads in several places, for example from a CTE or view, become one shared part.

Each mention of a CTE is read with its own column names. If two of them are still equal after filters have
been pushed into them, the second becomes the first under other names: its changes are derived and computed
once.

γ ⊙ γ' = γ ⊙ π_names(γ)    if γ' is γ with other column names
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass

from sparkivm import algebra as ra
from sparkivm.algebra import Relation, Scalar, operator
from sparkivm.algebra.memo import memoized
from sparkivm.algebra.project import renamed
from sparkivm.errors import InternalError, no_rule

_Label = Hashable  # of a column, the same for all relations of a kind


@dataclass(frozen=True)
class _Kind:
    """What a relation is, regardless of column names; equal kinds have the same labels."""

    number: int
    labels: Mapping[str, _Label]  # by name


def share_parts(relation: Relation) -> Relation:
    """The same relation, with equal groups as one object."""
    alike = _alike(relation)
    return _Sharing(alike).visit(relation)[0] if alike else relation


def _alike(relation: Relation) -> frozenset[int]:
    """Ids of the relations in groups that may be equal: with the same operators over the same tables."""
    shapes: dict[int, Hashable] = {}
    numbers: dict[Hashable, int] = {}
    found: dict[int, list[Relation]] = {}
    for node in relation.walk():  # children first
        table = node.table if isinstance(node, ra.Scan) else ""
        shape = (type(node), table, len(node.columns), *(shapes[id(child)] for child in node.children))
        number = shapes[id(node)] = numbers.setdefault(shape, len(numbers))
        if isinstance(node, (ra.Aggregate, ra.Window)):
            found.setdefault(number, []).append(node)
    several = (nodes for nodes in found.values() if len(nodes) > 1)
    return frozenset(id(part) for nodes in several for node in nodes for part in node.walk())


_NO_KIND = _Kind(-1, {})


class _Sharing:
    """alike  relations whose kinds matter"""

    def __init__(self, alike: Collection[int]) -> None:
        self._alike = alike
        self._numbers: dict[Hashable, int] = {}
        self._first: dict[int, tuple[Relation, _Kind]] = {}  # by the kind's number

    @memoized
    def visit(self, node: Relation) -> tuple[Relation, _Kind]:
        """The relation with shared parts, and its kind."""
        found = [self.visit(child) for child in node.children]
        if id(node) not in self._alike:
            return (node.with_children(tuple(child for child, _ in found)) if found else node), _NO_KIND
        kind = self._kind(node, [kind for _, kind in found])
        known = self._first.get(kind.number)
        if known is not None and isinstance(node, (ra.Aggregate, ra.Window)):
            first, its = known
            name_of = {label: name for name, label in its.labels.items()}
            return renamed(first, ((name, name_of[kind.labels[name]]) for name in node.columns)), kind
        result = node.with_children(tuple(child for child, _ in found)) if found else node
        self._first.setdefault(kind.number, (result, kind))
        return result, kind

    def _kind(self, node: Relation, children: list[_Kind]) -> _Kind:
        text = _named_by_labels(children)
        below = tuple(child.number for child in children)
        passed = {name: (i, label) for i, one in enumerate(children) for name, label in one.labels.items()}
        identity: Hashable
        labels: dict[str, _Label]
        node = operator(node)
        match node:
            case ra.Scan():
                labels = dict(node.fields)
                identity = (node.table, node.at, frozenset(labels.values()))
            case ra.OneRow():
                labels, identity = {}, ()
            case ra.Filter():
                labels, identity = dict(passed), text(node.predicate)
            case ra.Project():
                labels = {name: i for i, (name, _) in enumerate(node.items)}
                identity = tuple(text(scalar) for _, scalar in node.items)
            case ra.UnionAll():
                labels = {name: i for i, name in enumerate(node.columns)}
                identity = tuple(
                    tuple(child.labels[name] for name in input.columns)
                    for child, input in zip(children, node.inputs, strict=True)
                )
            case ra.InnerJoin():
                labels, identity = dict(passed), frozenset(map(text, node.predicates))
            case ra.LeftJoin() | ra.SemiJoin():
                labels = {name: passed[name] for name in node.columns}
                identity = (getattr(node, "anti", None), frozenset(map(text, node.predicates)))
            case ra.Aggregate():
                labels = {key: passed[key] for key in node.keys}
                labels |= {call.name: i for i, call in enumerate(node.calls)}
                calls = ((call.function, call.argument and text(call.argument)) for call in node.calls)
                identity = (frozenset(labels[key] for key in node.keys), tuple(calls))
            case ra.Window():
                labels = dict(passed) | {call.name: i for i, call in enumerate(node.calls)}
                identity = (
                    frozenset(passed[name] for name in node.partition),
                    tuple(
                        (
                            text(call.call),
                            tuple((text(o.key), o.descending, o.nulls_first) for o in call.order),
                            call.frame,
                            call.settled,
                        )
                        for call in node.calls
                    ),
                )
            case ra.Generate() | ra.Repeat() | ra.FullJoin():
                labels, identity = {name: name for name in node.columns}, id(node)
            case ra.Changes() | ra.Empty() | ra.Restricted() | ra.Slice() | ra.Unweigh():
                raise InternalError("parts are shared before a query is derived")
            case ra.Weigh() | ra.Consolidate() | ra.Copies():
                raise InternalError("parts are shared before a query is derived")
            case _:
                raise no_rule(node)
        key = (type(node), below, identity)
        if len(set(labels.values())) < len(labels):
            key = (type(node), below, id(node))  # one field has two names
        return _Kind(self._numbers.setdefault(key, len(self._numbers)), labels)


def _named_by_labels(children: Iterable[_Kind]) -> Callable[[Scalar], Scalar]:
    """Rewrites expressions over some relations, with labels in place of names."""
    names = {name: f"{i} {label}" for i, one in enumerate(children) for name, label in one.labels.items()}
    return lambda scalar: scalar.rename(names)
