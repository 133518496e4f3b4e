"""Calls of aggregates: which have an incremental rule, and how the others are read."""

from __future__ import annotations

from sqlglot import exp

from sparkivm.algebra import Scalar
from sparkivm.algebra.aggregates.aggregate_function import QueryAggregate
from sparkivm.algebra.aggregates.count import COUNT, COUNT_ROWS
from sparkivm.algebra.aggregates.functions import FUNCTIONS, OF_BOOLEANS
from sparkivm.algebra.aggregates.recomputed import Evaluated, evaluated
from sparkivm.algebra.function_call import arguments_of
from sparkivm.algebra.scalar import conjunction
from sparkivm.algebra.spark_functions import ARBITRARY_AGGREGATES
from sparkivm.frontend.accepted_expressions import check_accepted, function_name
from sparkivm.frontend.place import not_deterministic, not_supported, not_understood
from sparkivm.frontend.stars import counts_rows

ReadCall = tuple[QueryAggregate, Scalar | None]  # as in `Call`


def read_call(node: exp.Expr, whole: exp.Expr) -> ReadCall:
    """An aggregate over resolved columns. Rows that FILTER leaves out become NULL, which it ignores.

    whole  what the user wrote, to place an error
    """
    _refuse_arbitrary(node, whole)
    condition = node.expression.this if isinstance(node, exp.Filter) else None
    call = node.this if isinstance(node, exp.Filter) else node
    name = function_name(call.this if isinstance(call, exp.WithinGroup) else call)
    function = FUNCTIONS.get(name)
    if function is None:
        raise not_supported(f"the aggregate {name} has no rule", whole)
    arguments = _values_given(call)
    if not arguments and not counts_rows(call):
        raise not_understood(f"{name} has no argument", whole)
    for part in (*arguments, *([condition] if condition is not None else [])):
        check_accepted(part)
    if _is_distinct(call) and not function.ignores_copies:
        function = evaluated(function.over_no_rows)
    if isinstance(function, Evaluated):
        return function, Scalar(node)
    if function == COUNT:
        return _count(name, arguments, condition)
    argument = _as_boolean(arguments[0]) if name in OF_BOOLEANS else arguments[0]
    return function, Scalar(_where(condition, argument))


def _as_boolean(argument: exp.Expr) -> exp.Expr:
    """As Spark casts the argument of BOOL_AND: the least text is not the least truth value."""
    if isinstance(argument, (exp.Predicate, exp.Connector, exp.Not, exp.Boolean)):
        return argument
    return exp.Cast(this=argument.copy(), to=exp.DataType.build("boolean"))


def _count(name: str, arguments: list[exp.Expr], condition: exp.Expr | None) -> ReadCall:
    """COUNT of rows, of values, of rows whose arguments are all non-NULL, or of rows meeting a condition."""
    conditions = [condition] if condition is not None else []
    if name == "count_if":
        conditions += arguments
    elif len(arguments) > 1:
        conditions += [exp.Not(this=exp.Is(this=_operand(a), expression=exp.Null())) for a in arguments]
    elif arguments and not isinstance(arguments[0], exp.Literal):
        return COUNT, Scalar(_where(condition, arguments[0]))
    counted = conjunction(map(Scalar, conditions))
    return (COUNT_ROWS, None) if counted is None else (COUNT, Scalar(_where(counted.tree, _ONE)))


_ONE = exp.Literal.number(1)


def _where(condition: exp.Expr | None, argument: exp.Expr) -> exp.Expr:
    """The argument where the condition is TRUE, else NULL."""
    if condition is None:
        return argument
    return exp.Case(ifs=[exp.If(this=condition.copy(), true=argument.copy())])


def _operand(tree: exp.Expr) -> exp.Expr:
    return tree.copy() if isinstance(tree, exp.Column) else exp.Paren(this=tree.copy())


def _values_given(call: exp.Expr) -> list[exp.Expr]:
    """A call's arguments, without DISTINCT; none for COUNT(*)."""
    parts = arguments_of(call)
    if isinstance(call, exp.WithinGroup):
        return [*_values_given(call.this), *(ordered.this for ordered in call.expression.expressions)]
    if _is_distinct(call):
        parts = parts[0].expressions
    return [] if counts_rows(call) else parts


def _is_distinct(call: exp.Expr) -> bool:
    return any(isinstance(part, exp.Distinct) for part in arguments_of(call)[:1])


def _refuse_arbitrary(node: exp.Expr, whole: exp.Expr) -> None:
    for part in node.walk():
        chosen = isinstance(part, (exp.IgnoreNulls, exp.RespectNulls))
        name = function_name(part.this if chosen else part)
        if chosen or name in ARBITRARY_AGGREGATES:
            raise not_deterministic(f"{name} takes the value of any row of the group", whole)
