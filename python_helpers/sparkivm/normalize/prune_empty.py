"""Terms of a delta that are empty, because an input did not change, disappear."""

from __future__ import annotations

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
from sparkivm.algebra.relation import rewrite
from sparkivm.algebra.scalar import column, null
from sparkivm.errors import InternalError, no_rule


def prune_empty(relation: Relation) -> Relation:
    """∅ ⋈ A = ∅, ∅ ⊎ A = A, ∅ ⟕ A = ∅, A ⟕ ∅ = A × NULL, and so on."""

    def prune(node: Relation) -> Relation:
        empty = [isinstance(child, Empty) for child in node.children]
        if not any(empty):
            return node
        node = operator(node)
        match node:
            case (
                Filter() | Project() | Repeat() | Weigh() | Consolidate() | Copies() | Unweigh() | InnerJoin()
            ):
                return Empty(node.columns)
            case Aggregate() if node.keys:
                return Empty(node.columns)
            case Restricted():
                return node.input if node.excluded and not empty[0] else Empty(node.columns)
            case SemiJoin():
                return node.left if node.anti and not empty[0] else Empty(node.columns)
            case LeftJoin() if empty[0]:
                return Empty(node.columns)
            case LeftJoin() | FullJoin():
                if all(empty):
                    return Empty(node.columns)
                kept = node.children[empty.index(False)]
                padded = ((n, column(n) if n in kept.columns else null()) for n in node.columns)
                return Project(kept, tuple(padded))
            case UnionAll():
                rest = tuple(child for child in node.inputs if not isinstance(child, Empty))
                if not rest:
                    return Empty(node.columns)
                return rest[0] if len(rest) == 1 else UnionAll(rest)
            case Generate() | Window() | Aggregate() | Slice():
                return node
            case Scan() | Changes() | OneRow() | Empty():
                raise InternalError("what has no children has no empty one")
            case _:
                raise no_rule(node)

    return rewrite(relation, prune)
