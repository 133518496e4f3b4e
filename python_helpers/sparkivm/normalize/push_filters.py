"""Pushes filters to the scans, flattens joins, turns LEFT into INNER JOIN where padding cannot survive.

σ_p(π_e(A)) = π_e(σ_{p∘e}(A))            σ_p(A ⊎ B) = σ_p(A) ⊎ σ_p(B)
σ_p(ρ_n(A)) = ρ_n(σ_p(A))
σ_p(G(A)) = G(σ_p(A))                    p over A alone, G a LATERAL VIEW
σ_p(A ⋈ B) = σ_p(A) ⋈ B                  p over A alone; other predicates become part of the join
σ_p(A ⟕ B) = σ_p(A) ⟕ B                  p over A alone
A ⟕_{on ∧ p} B = A ⟕_on σ_p(B)           p over B alone
σ_p(A ⋉_{on ∧ q} B) = σ_p(A) ⋉_on σ_q(B)  q over B alone; the same for ▷
σ_p(A ⟕ B) = σ_p(A ⋈ B)                  p is not TRUE for a row of B that is all NULL
σ_p(A ⟗ B) = σ_p(A ⟕ B)                  p is not TRUE for a row of A that is all NULL
σ_p(γ_k(A)) = γ_k(σ_p(A))                p over the keys k alone, and there are keys
σ_p(ω_k(A)) = ω_k(σ_p(A))                p over the keys k of the partitions alone
"""

from __future__ import annotations

from dataclasses import replace

from sparkivm import algebra as ra
from sparkivm.algebra import JoinCondition, Relation, Scalar, operator
from sparkivm.algebra.scalar import conjunction, conjuncts
from sparkivm.errors import InternalError, no_rule
from sparkivm.properties.null_rejection import all_rejected

Predicates = tuple[Scalar, ...]


def push_filters(relation: Relation) -> Relation:
    return _push(relation, (), frozenset())


def _push(node: Relation, predicates: Predicates, not_null: frozenset[str]) -> Relation:
    """`node` under `predicates`; rows in which a column of `not_null` is NULL are irrelevant above."""
    node = operator(node)
    match node:
        case ra.Filter():
            return _push(node.input, (*conjuncts(node.predicate), *predicates), not_null)
        case ra.Generate():
            own = frozenset(node.input.columns)
            passed = tuple(p for p in predicates if p.columns and p.columns <= own)
            generated = replace(node, input=_push(node.input, passed, not_null & own))
            return _filtered(generated, tuple(p for p in predicates if p not in passed))
        case ra.Repeat():
            return replace(node, input=_push(node.input, predicates, not_null))
        case ra.Project():
            items = dict(node.items)
            passed_on = {s.as_column for n, s in node.items if n in not_null and s.as_column}
            below = tuple(predicate.substitute(items) for predicate in predicates)
            return replace(node, input=_push(node.input, below, frozenset(filter(None, passed_on))))
        case ra.UnionAll():
            return ra.UnionAll(tuple(_push(child, predicates, not_null) for child in node.inputs))
        case ra.InnerJoin():
            return _push_into_join(node, predicates, not_null)
        case ra.LeftJoin():
            return _push_into_left_join(node, predicates, not_null)
        case ra.FullJoin():
            return _push_into_full_join(node, predicates, not_null)
        case ra.SemiJoin():
            return _push_into_semi_join(node, predicates, not_null)
        case ra.Window():
            own = frozenset(node.partition)
            passed = tuple(p for p in predicates if p.columns and p.columns <= own)
            window = replace(node, input=_push(node.input, passed, not_null & own))
            return _filtered(window, tuple(p for p in predicates if p not in passed))
        case ra.Aggregate() if node.keys:
            keys = frozenset(node.keys)
            below = tuple(p for p in predicates if p.columns and p.columns <= keys)
            inner = replace(node, input=_push(node.input, below, not_null & keys))
            return _filtered(inner, tuple(p for p in predicates if p not in below))
        case ra.Aggregate():
            inner = replace(node, input=_push(node.input, (), frozenset()))
            return _filtered(inner, predicates)
        case ra.Restricted() | ra.Slice() | ra.Weigh() | ra.Consolidate() | ra.Copies() | ra.Unweigh():
            raise InternalError("filters are pushed down before a query is derived")
        case ra.Scan() | ra.Changes() | ra.OneRow() | ra.Empty():
            return _filtered(node, predicates)
        case _:
            raise no_rule(node)


def _push_into_join(node: ra.InnerJoin, predicates: Predicates, not_null: frozenset[str]) -> Relation:
    inputs, mine = _flattened(node)
    everything = _distinct((*mine, *predicates))
    rejected = not_null | all_rejected(everything)
    local: list[list[Scalar]] = [[] for _ in inputs]
    across: list[Scalar] = []
    for predicate in everything:
        owner = next(
            (i for i, c in enumerate(inputs) if predicate.columns and predicate.columns <= set(c.columns)),
            None,
        )
        across.append(predicate) if owner is None else local[owner].append(predicate)
    pushed = tuple(
        _push(child, tuple(ps), rejected & frozenset(child.columns))
        for child, ps in zip(inputs, local, strict=True)
    )
    if any(isinstance(child, ra.InnerJoin) for child in pushed):  # a LEFT JOIN became an INNER JOIN
        return _push_into_join(ra.InnerJoin(pushed, tuple(across)), (), not_null)
    return ra.InnerJoin(pushed, tuple(across))


def _flattened(node: ra.InnerJoin) -> tuple[list[Relation], list[Scalar]]:
    inputs: list[Relation] = []
    predicates = list(node.predicates)
    for child in node.inputs:
        while isinstance(child, ra.Filter) and isinstance(child.input, (ra.InnerJoin, ra.Filter)):
            predicates.extend(conjuncts(child.predicate))
            child = child.input
        if isinstance(child, ra.InnerJoin):
            inner, more = _flattened(child)
            inputs.extend(inner)
            predicates.extend(more)
        else:
            inputs.append(child)
    return inputs, predicates


def _push_into_left_join(node: ra.LeftJoin, predicates: Predicates, not_null: frozenset[str]) -> Relation:
    left, right = frozenset(node.left.columns), frozenset(node.right.columns)
    rejected = not_null | all_rejected(predicates)
    if rejected & right:
        return _push(ra.InnerJoin((node.left, node.right), node.predicates), predicates, not_null)
    to_left = tuple(p for p in predicates if p.columns and p.columns <= left)
    above = tuple(p for p in predicates if p not in to_left)
    to_right = tuple(p for p in node.on.residual if p.columns and p.columns <= right)
    on = JoinCondition(node.on.pairs, tuple(p for p in node.on.residual if p not in to_right))
    joined = replace(
        node,
        left=_push(node.left, to_left, rejected & left),
        right=_push(node.right, to_right, all_rejected(node.predicates) & right),
        on=on,
    )
    return _filtered(joined, above)


def _push_into_full_join(node: ra.FullJoin, predicates: Predicates, not_null: frozenset[str]) -> Relation:
    """If rows with NULLs for a side cannot survive, the join is a LEFT JOIN that preserves that side."""
    rejected = not_null | all_rejected(predicates)
    for preserved, other, on in (
        (node.left, node.right, node.on),
        (node.right, node.left, node.on.flipped),
    ):
        if rejected & frozenset(preserved.columns):
            return _push(ra.LeftJoin(preserved, other, on), predicates, not_null)
    sides = (_push(side, (), frozenset()) for side in node.children)
    return _filtered(node.with_children(tuple(sides)), predicates)


def _push_into_semi_join(node: ra.SemiJoin, predicates: Predicates, not_null: frozenset[str]) -> Relation:
    right = frozenset(node.right.columns)
    to_right = tuple(p for p in node.on.residual if p.columns and p.columns <= right)
    return replace(
        node,
        left=_push(node.left, predicates, not_null | all_rejected(predicates)),
        right=_push(node.right, to_right, all_rejected(node.predicates) & right),
        on=JoinCondition(node.on.pairs, tuple(p for p in node.on.residual if p not in to_right)),
    )


def _distinct(predicates: Predicates) -> Predicates:
    return tuple(dict.fromkeys(predicates))


def _filtered(relation: Relation, predicates: Predicates) -> Relation:
    predicate = conjunction(_distinct(predicates))
    return relation if predicate is None else ra.Filter(relation, predicate)
