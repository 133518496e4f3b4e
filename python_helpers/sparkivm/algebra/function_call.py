"""Calls of functions in a parsed expression: their names, arguments, and surrounding clauses."""

from __future__ import annotations

from sqlglot import exp

# Nodes that may wrap the call of an aggregate.
AROUND_AGGREGATES = (exp.Filter, exp.WithinGroup, exp.IgnoreNulls, exp.RespectNulls)


def call_within(tree: exp.Expr) -> exp.Expr:
    """The call inside its wrappers."""
    while isinstance(tree, AROUND_AGGREGATES):
        tree = tree.this
    return tree


def spark_name(call: exp.Expr) -> str:
    """The name of a called function as Spark knows it, in lower case."""
    return call.sql(dialect="spark").partition("(")[0].lower()


def arguments_of(call: exp.Expr) -> list[exp.Expr]:
    """A call's arguments in `this` and `expressions`; for most functions these are all."""
    return [part for part in (call.this, *call.expressions) if isinstance(part, exp.Expr)]
