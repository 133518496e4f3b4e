"""Smaller versions of a query, used to shrink a failure."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import sqlglot
from sqlglot import exp

# Removes a node from a copy of the query, in place. The caller finds out whether the rest is still a query.
_Cut = Callable[[exp.Expr], None]


def smaller_queries(sql: str) -> Iterator[str]:
    """Texts with one part removed, largest parts first."""
    tree = sqlglot.parse_one(sql, dialect="spark")
    seen = {tree.sql(dialect="spark")}
    for position, node in enumerate(tree.walk()):
        for cut in _cuts(node):
            copy = tree.copy()
            cut(list(copy.walk())[position])
            text = copy.sql(dialect="spark")
            if text not in seen and len(text) < len(sql):
                seen.add(text)
                yield text


def _cuts(node: exp.Expr) -> Iterator[_Cut]:
    if isinstance(node, exp.Select):
        for clause in ("where", "having", "distinct", "order", "limit", "offset", "with_"):
            if node.args.get(clause):
                yield lambda select, clause=clause: select.set(clause, None)
        for index in range(len(node.args.get("joins") or ())):
            yield lambda select, index=index: select.args["joins"].pop(index)
        if len(node.expressions) > 1:
            for index in range(len(node.expressions)):
                yield lambda select, index=index: select.expressions.pop(index)
    if isinstance(node, exp.Group) and len(node.expressions) > 1:
        for index in range(len(node.expressions)):
            yield lambda group, index=index: group.expressions.pop(index)
    if isinstance(node, exp.With):
        for index in range(len(node.expressions)):
            yield lambda clause, index=index: clause.expressions.pop(index)
    if isinstance(node, (exp.Union, exp.And, exp.Or, exp.Add, exp.Sub, exp.Mul)):
        yield lambda binary: binary.replace(binary.this)
        yield lambda binary: binary.replace(binary.expression)
    if isinstance(node, (exp.Coalesce, exp.Upper, exp.Concat, exp.Neg, exp.Abs, exp.Not, exp.Paren)):
        yield lambda call: call.replace(call.this or call.expressions[0])
    if isinstance(node, exp.Subquery):
        # The new query rarely has the derived table's columns; the caller finds out.
        yield lambda subquery: subquery.set("this", sqlglot.parse_one("select 1 as c1", dialect="spark"))
