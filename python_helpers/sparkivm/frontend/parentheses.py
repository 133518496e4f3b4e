"""Parentheses around a query or an expression."""

from __future__ import annotations

from typing import overload

from sqlglot import exp

from sparkivm.frontend.order_by import takes_some


@overload
def inside_parentheses(tree: exp.Query) -> exp.Query: ...
@overload
def inside_parentheses(tree: exp.Expr) -> exp.Expr: ...
def inside_parentheses(tree: exp.Expr) -> exp.Expr:
    """The tree without redundant parentheses; those with a WITH, ORDER BY or LIMIT of their own stay."""
    while isinstance(tree, exp.Paren) or (
        isinstance(tree, exp.Subquery)
        and not any(map(tree.args.get, ("order", "with_")))
        and not takes_some(tree)
    ):
        tree = tree.this
    return tree
