"""Calls of functions in a parsed expression: their names, their arguments, and what stands around them."""

from __future__ import annotations

from sqlglot import exp

# What may stand around the call of an aggregate.
AROUND_AGGREGATES = (exp.Filter, exp.WithinGroup, exp.IgnoreNulls, exp.RespectNulls)


def call_within(tree: exp.Expr) -> exp.Expr:
    """The call in what may stand around it."""
    while isinstance(tree, AROUND_AGGREGATES):
        tree = tree.this
    return tree


def spark_name(call: exp.Expr) -> str:
    """The name of a called function as Spark knows it, in lower case."""
    return call.sql(dialect="spark").partition("(")[0].lower()


def arguments_of(call: exp.Expr) -> list[exp.Expr]:
    """The arguments of a call that its class keeps as `this` and `expressions`: all, of most functions."""
    return [part for part in (call.this, *call.expressions) if isinstance(part, exp.Expr)]
