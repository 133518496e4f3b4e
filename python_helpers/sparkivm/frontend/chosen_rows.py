"""FIRST, LAST and ANY_VALUE as aggregates: Spark takes any row of a group, a view chooses one.

The rows of a group are ordered by all columns that these calls read in one SELECT; rows with values come
before rows with NULLs. If they read x and y:

    S                         = STRUCT(x IS NULL, y IS NULL, x, y)
    FIRST(x), ANY_VALUE(x)    = MIN(S).x
    LAST(y) FILTER (WHERE p)  = MAX(S) FILTER (WHERE p).y
    FIRST(x) IGNORE NULLS     = MIN(S) FILTER (WHERE x IS NOT NULL).x
    FIRST(x), alone           = MIN(x)
    LAST(x), alone            = MAX(x)      here rows with NULLs come first

Spark could have read the rows in this order, so it might return the same values, also in combination. They
depend on the bag of rows alone, so a choice changes only when the rows do.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from sqlglot import exp

from sparkivm.algebra.function_call import AROUND_AGGREGATES
from sparkivm.frontend.expressions import is_windowed, outside_of_subqueries
from sparkivm.frontend.scope import with_fields

_FIRST = (exp.AnyValue, exp.First, exp.FirstValue)
_LAST = (exp.Last, exp.LastValue)
_CLAUSES = ("expressions", "having", "order", "windows")


_Tree = TypeVar("_Tree", bound=exp.Expr)


@dataclass(frozen=True)
class _Choice:
    """One call, with its FILTER and IGNORE NULLS."""

    node: exp.Expr
    last: bool
    value: exp.Expr
    conditions: tuple[exp.Expr, ...]  # rows for which one is not TRUE are skipped
    ignores_nulls: bool


def with_chosen_rows(tree: _Tree) -> _Tree:
    """The query with these calls written as MIN and MAX; unchanged if it has none."""
    if not any(map(_is_choice, tree.walk())):
        return tree
    tree = tree.copy()
    for select in list(tree.find_all(exp.Select)):
        parts = [part for clause in _CLAUSES for part in _listed(select.args.get(clause))]
        choices = [choice for part in parts for choice in _choices(part)]
        order = _order(choices)
        for choice in choices:
            choice.node.replace(_extremum(choice, order))
    for pivot in list(tree.find_all(exp.Pivot)):
        choices = [choice for part in pivot.expressions for choice in _choices(part)]
        if not _order(choices):  # Spark accepts no field of an aggregate there
            for choice in choices:
                choice.node.replace(_extremum(choice, ()))
    return tree


def _listed(value: object) -> list[exp.Expr]:
    parts = value if isinstance(value, list) else [value]
    return [part for part in parts if isinstance(part, exp.Expr)]


def _is_choice(node: exp.Expr) -> bool:
    return isinstance(node, (*_FIRST, *_LAST)) and not is_windowed(node)


def _choices(part: exp.Expr) -> list[_Choice]:
    return [_choice(node) for node in outside_of_subqueries(part) if _is_choice(node)]


def _choice(call: exp.Expr) -> _Choice:
    node, conditions, ignores_nulls = call, [], False
    while isinstance(node.parent, AROUND_AGGREGATES) and node.parent.this is node:
        node = node.parent
        ignores_nulls |= isinstance(node, exp.IgnoreNulls)
        if isinstance(node, exp.Filter):
            conditions.append(node.expression.this)
    value = call.this.expressions[0] if isinstance(call.this, exp.Distinct) else call.this
    return _Choice(node, isinstance(call, _LAST), value, tuple(conditions), ignores_nulls)


def _order(choices: Sequence[_Choice]) -> tuple[exp.Expr, ...]:
    """The values that order the rows; empty if all calls read one value, from the same end."""
    values = tuple(dict.fromkeys(choice.value for choice in choices))
    if len(values) < 2 and len({choice.last for choice in choices}) < 2:
        return ()
    return values


def _extremum(choice: _Choice, order: Sequence[exp.Expr]) -> exp.Expr:
    extremum = exp.Max if choice.last else exp.Min
    conditions = list(choice.conditions)
    if not order:
        return _filtered(extremum(this=choice.value.copy()), conditions)
    if choice.ignores_nulls:
        conditions.append(exp.Not(this=_is_null(choice.value)))
    fields = {f"n{i}": _is_null(value) for i, value in enumerate(order, 1)}
    fields |= {f"v{i}": value.copy() for i, value in enumerate(order, 1)}
    row = exp.Struct(
        expressions=[
            exp.PropertyEQ(this=exp.to_identifier(name), expression=value) for name, value in fields.items()
        ]
    )
    return with_fields(_filtered(extremum(this=row), conditions), [f"v{order.index(choice.value) + 1}"])


def _is_null(value: exp.Expr) -> exp.Expr:
    return exp.Is(this=exp.Paren(this=value.copy()), expression=exp.Null())


def _filtered(call: exp.Expr, conditions: Iterable[exp.Expr]) -> exp.Expr:
    trees = [condition.copy() for condition in conditions]
    return exp.Filter(this=call, expression=exp.Where(this=exp.and_(*trees))) if trees else call
