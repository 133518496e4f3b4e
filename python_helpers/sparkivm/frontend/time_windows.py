"""WINDOW(time, length [, slide [, start]]): one row for each span of time that contains a row's time.

γ_{window(t)}(R) = γ_w(G(R)),  G(R) = {(r, w) | r ∈ R, w a span that contains r.t}: none where t is NULL

Spark allows one such call in a SELECT, and names its column `window`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from sqlglot import exp

from sparkivm.algebra import Generate, Relation, Scalar
from sparkivm.algebra.function_call import spark_name
from sparkivm.frontend.accepted_expressions import check_accepted
from sparkivm.frontend.expressions import outside_of_subqueries, resolve
from sparkivm.frontend.place import not_supported
from sparkivm.frontend.scope import NameAllocator, Scope

_NAME = "window"


def with_time_windows(
    select: exp.Select, relation: Relation, scope: Scope, names: NameAllocator
) -> tuple[exp.Select, Relation, Scope]:
    """The SELECT with a column in place of such calls, and rows that have it; unchanged without calls."""
    calls = {Scalar(resolve(node, scope)) for node in _calls(select)}
    if not calls:
        return select, relation, scope
    call = calls.pop()
    if calls:
        raise not_supported("several WINDOW calls in one SELECT", select)
    for argument in call.tree.expressions:
        check_accepted(argument)
    column = names.fresh(_NAME)
    rows = Generate(relation, call, (column,), in_select=True)
    rewritten = select.copy()
    for node in list(_calls(rewritten)):
        node.replace(exp.column(_NAME))
    return rewritten, rows, replace(scope, made=[(_NAME, column)])


def _calls(select: exp.Select) -> Iterator[exp.Expr]:
    group = select.args.get("group")
    for tree in (*select.expressions, *([group] if group is not None else [])):
        for node in outside_of_subqueries(tree):
            if not isinstance(node, exp.Anonymous):
                continue
            if spark_name(node) == "session_window":  # before its column's name is reported as unknown
                raise not_supported("SESSION_WINDOW", node)
            if spark_name(node) == _NAME:
                yield node
