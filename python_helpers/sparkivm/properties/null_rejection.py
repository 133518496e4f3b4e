"""The columns that must not be NULL for a predicate to be TRUE."""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot import exp

from sparkivm.algebra import Scalar

# NULL in, NULL out.
_STRICT = (
    exp.Add,
    exp.Sub,
    exp.Mul,
    exp.Neg,
    exp.Paren,
    exp.Cast,
    exp.TryCast,
    exp.DPipe,
    exp.Upper,
    exp.Lower,
)
_COMPARISONS = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Like)


def rejects_null(predicate: Scalar) -> frozenset[str]:
    """Columns of which each alone prevents the predicate from being TRUE if it is NULL."""
    return _rejected(predicate.tree)


def all_rejected(predicates: Iterable[Scalar]) -> frozenset[str]:
    return frozenset().union(*(rejects_null(predicate) for predicate in predicates))


def _rejected(tree: exp.Expr) -> frozenset[str]:
    match tree:
        case exp.Paren():
            return _rejected(tree.this)
        case exp.And():
            return _rejected(tree.this) | _rejected(tree.expression)
        case exp.Or():
            return _rejected(tree.this) & _rejected(tree.expression)
        case exp.Not(this=exp.Is(this=operand, expression=exp.Null())):
            return _strict(operand)
        case exp.Not(this=exp.Paren(this=exp.Is(this=operand, expression=exp.Null()))):
            return _strict(operand)
        case exp.Between():
            return _strict(tree.this)
        case exp.In() if not tree.args.get("query"):
            return _strict(tree.this)
    if isinstance(tree, _COMPARISONS):
        return _strict(tree.this) | _strict(tree.expression)
    return frozenset()


def _strict(tree: exp.Expr) -> frozenset[str]:
    """Columns whose NULL makes an expression NULL."""
    if isinstance(tree, exp.Column):
        return frozenset({tree.name})
    if isinstance(tree, _STRICT):
        return frozenset().union(*(_strict(child) for child in tree.iter_expressions()))
    return frozenset()
