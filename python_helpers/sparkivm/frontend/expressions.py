"""Scalar expressions: names to columns, and what may not stand in them."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from sparkivm.algebra.scalar import column, replace_nodes
from sparkivm.algebra.spark_functions import AGGREGATE_FUNCTIONS
from sparkivm.frontend.place import not_incremental
from sparkivm.frontend.scope import Scope, unresolved
from sparkivm.reasons import Reason


def resolve(tree: exp.Expr, scope: Scope, aliases: Mapping[str, exp.Expr] | None = None) -> exp.Expr:
    """A copy of `tree` whose columns are columns of the relation.

    aliases  earlier items of the SELECT list by lower-case alias, already resolved; FROM's columns come first
    """
    _refuse_constructs(tree)

    def replacement(node: exp.Expr) -> exp.Expr | None:
        if not isinstance(node, exp.Column) or isinstance(node.this, exp.Star):
            return None
        found = scope.find(node)
        if found is None:
            alias = (aliases or {}).get(node.parts[0].name.lower())
            if alias is None:
                raise unresolved(node)
            return _with_fields(alias, [part.name for part in node.parts[1:]])
        name, fields = found
        return _with_fields(column(name).tree, fields)

    return replace_nodes(tree, replacement)


def _with_fields(tree: exp.Expr, fields: list[str]) -> exp.Expr:
    for name in fields:
        tree = exp.Dot(
            this=tree if isinstance(tree, (exp.Column, exp.Dot)) else exp.Paren(this=tree.copy()),
            expression=exp.to_identifier(name, quoted=True),
        )
    return tree


def _refuse_constructs(tree: exp.Expr) -> None:
    """What needs rules of its own that do not exist yet."""
    for node in tree.walk():
        if isinstance(node, (exp.Subquery, exp.Exists, exp.Select, exp.SetOperation)):
            raise not_incremental(Reason.OPERATOR_NOT_SUPPORTED, "a subquery in an expression", node)
        if isinstance(node, exp.In) and node.args.get("query"):
            raise not_incremental(Reason.OPERATOR_NOT_SUPPORTED, "IN with a subquery", node)
        if isinstance(node, exp.Window):
            raise not_incremental(Reason.OPERATOR_NOT_SUPPORTED, "a window function", node)
        if isinstance(node, exp.Lambda):
            raise not_incremental(Reason.EXPRESSION_NOT_SUPPORTED, "a lambda expression", node)
        if isinstance(node, (exp.Explode, exp.Posexplode, exp.Inline, exp.UDTF)):
            raise not_incremental(Reason.OPERATOR_NOT_SUPPORTED, "a function that makes rows (explode)", node)


def has_aggregate(tree: exp.Expr) -> bool:
    return any(is_aggregate(node) for node in tree.walk())


def is_aggregate(node: exp.Expr) -> bool:
    """Whether a node is the call of an aggregate, its FILTER or WITHIN GROUP left out."""
    if isinstance(node, exp.Anonymous):
        return str(node.this).lower() in AGGREGATE_FUNCTIONS
    return isinstance(node, exp.AggFunc)
