"""Values that depend on the order in which Spark reads rows, and what must not depend on them.

law  dF(A) = F(A₁) − F(A₀) deletes the stored rows only if computing F(A₀) again gives the same rows

The last digits of a sum of DOUBLE, the order of COLLECT_LIST, or which of two tied rows MAX_BY takes, may
differ the second time. In a column of a stored row, other last digits or another order are noticed: the row
to delete is missing, and the view is rebuilt. If F(A₀), computed again, equals F(A₁), the stored row stays,
and differs from the new one only in its last digits or its order.

In a filter, join, key, count or extremum nothing would be noticed. Neither would it be if the row shows a
choice: MAX_BY of tied rows, or an expression that makes different values equal, such as `s >= 1.3`. So there
the values must come from a view that stores them. At a query's top they are computed again for each changed
group, and never subtracted.

tested  tests/unit/test_order_dependent.py, tests/spark/test_auxiliaries.py
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import chain

from sqlglot import exp

from sparkivm.algebra import (
    Aggregate,
    Call,
    Generate,
    Project,
    Relation,
    Scalar,
    UnionAll,
    Window,
)
from sparkivm.algebra.aggregates.aggregate_function import AggregateFunction
from sparkivm.algebra.aggregates.count import COUNT
from sparkivm.algebra.aggregates.recomputed import Evaluated
from sparkivm.algebra.function_call import arguments_of, call_within, spark_name
from sparkivm.algebra.memo import memoized
from sparkivm.algebra.scalar import column
from sparkivm.algebra.spark_text import SparkText
from sparkivm.errors import NotIncremental
from sparkivm.plan.distinct_arguments import taken_apart
from sparkivm.plan.types_of import TypesOf
from sparkivm.properties.key_columns import key_columns
from sparkivm.reasons import Fallback, Reason
from sparkivm.spark.data_types import BIGINT, STRING, SparkType, spark_type

# Aggregates that depend on the order: by the order of a list, by the choice among ties, by last digits.
_LISTS = frozenset("array_agg collect_list collect_set listagg string_agg".split())
_IN_TIES = frozenset("approx_percentile approx_top_k max_by min_by mode percentile_approx".split())
_OF_A_ROW = frozenset("max_by min_by".split())  # a value of one row, which may be NULL
_IN_DIGITS = frozenset(
    """
    corr covar_pop covar_samp histogram_numeric hll_sketch_agg hll_union_agg kurtosis regr_avgx regr_avgy
    regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy skewness std stddev stddev_pop stddev_samp
    var_pop var_samp variance
    """.split()
)
_ADDING = frozenset("avg mean sum try_avg try_sum".split())
_IN_DOUBLE = _ADDING - {"sum", "try_sum"}  # Spark adds integers up in DOUBLE
_DOUBLE = SparkType("double")
# Equal results mean equal values, up to last digits and the order of a list.
_TELLING = (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Neg, exp.Paren, exp.Alias, exp.PropertyEQ, exp.Distinct)
_TELLING_FUNCTIONS = frozenset("array array_join coalesce concat_ws named_struct struct to_json".split())
# Functions of one list that ignore its order.
_WHATEVER_THE_ORDER = frozenset(
    "array_contains array_max array_min array_size array_sort cardinality size sort_array".split()
)


@dataclass(frozen=True)
class Decided:
    """The decisions that depend on such values.

    by      aggregates that would make the values stable if they were auxiliary views
    reason  the first of the decisions
    """

    by: tuple[Aggregate, ...]
    reason: Fallback


def decided_by_order(core: Relation, types_of: TypesOf) -> Decided | None:
    """Which order-dependent values decide what a state of the core stores; None if none does.

    Raises: NotIncremental for a window function, which cannot be an auxiliary view.
    """
    try:
        if _Walk(None).decided(core) is None:
            return None
    except NotIncremental:
        pass
    return _Walk(types_of).decided(core)  # only sums of some types depend on the order


@dataclass(frozen=True)
class _Value:
    """A column with order-dependent values.

    what        the aggregate, for the user
    nodes       the groups that it comes from
    is_list     whether only the order of a list varies, not its elements
    null_varies whether it also varies whether the value is NULL
    """

    what: str
    nodes: frozenset[Aggregate]
    is_list: bool = False
    null_varies: bool = False


_Values = dict[str, _Value]


class _Walk:
    """types_of  None: treat each sum as one of DOUBLE"""

    def __init__(self, types_of: TypesOf | None) -> None:
        self._types_of = types_of
        self._by: set[Aggregate] = set()
        self._reason: Fallback | None = None

    def decided(self, core: Relation) -> Decided | None:
        if isinstance(core, Aggregate):
            apart = taken_apart(core)  # makes keys of DISTINCT arguments
            core = apart.core if apart else core
            self._check_groups(core, self._values(core.input), stored=True)
        else:
            self._values(core)
        within = {part for node in self._by for part in node.input.walk()}
        by = dict.fromkeys(
            node
            for node in core.walk()
            if isinstance(node, Aggregate) and node in self._by and node not in within
        )
        return Decided(tuple(by), self._reason) if self._reason is not None else None

    @memoized
    def _values(self, node: Relation) -> _Values:
        below: _Values = {}
        for child in node.children:
            below |= self._values(child)
        match node:
            case Aggregate():
                return self._of_groups(node, below)
            case Window():
                return below | self._of_windows(node, below)
            case Project():
                self._decide_choices((scalar for _, scalar in node.items), below)
                read = ((name, _read(scalar, below)) for name, scalar in node.items)
                return {name: value for name, value in read if value}
            case UnionAll():
                found: _Values = {}
                for child in node.inputs:
                    for name, source in zip(node.columns, child.columns, strict=True):
                        value = self._values(child).get(source)
                        if value is not None:
                            found[name] = _both(found.get(name), value)
                return found
            case Generate():
                self._decide_choices(map(Scalar, _arguments(node.generator.tree)), below)
                if not _makes_as_many_rows(node.generator, below):
                    self._decide([node.generator], below)
                made = _read(node.generator, below)
                return below | (dict.fromkeys(node.names, made) if made else {})
        # What other operators read may decide which rows exist.
        self._decide(node.scalars, below)
        return below

    def _of_groups(self, node: Aggregate, below: _Values) -> _Values:
        self._check_groups(node, below, stored=False)
        values: _Values = {}
        for call in node.calls:
            argument = call.argument
            if argument is None:
                continue
            what, value = self._own(node.input, argument, call.function), _read(argument, below)
            is_list = value is None and what.lower() in _LISTS
            null_varies = what.lower() in _OF_A_ROW or (value is not None and value.null_varies)
            what = what or (value.what if value else "")
            if what:
                values[call.name] = _Value(what, frozenset({node}), is_list, null_varies)
            if what.lower() in _IN_TIES:
                self._store(values[call.name], "a row")
        return values

    def _check_groups(self, node: Aggregate, below: _Values, *, stored: bool) -> None:
        """Check keys, and calls that the state updates without reading the group's rows."""
        self._decide(map(column, node.keys), below)
        self._decide_choices(chain.from_iterable(map(_arguments_of_call, node.calls)), below)
        for call in node.calls:
            argument = call.argument
            followed = _is_counted(call, below) or (stored and call.called.follows_values)
            if argument is None or not followed or _read(argument, below) is None:
                continue
            # If the type is unknown, assume that the value decides: the argument may be cast to a number.
            known = call.called.asks_type and self._types_of is not None
            if not (known and self._type(node.input, argument).floating):
                self._decide([argument], below)

    def _of_windows(self, node: Window, below: _Values) -> _Values:
        self._decide(map(column, node.partition), below)
        values: _Values = {}
        key = key_columns(node.input)
        for call in node.calls:
            self._decide((one.key for one in call.order), below)
            if call.settled and (key is None or not key <= call.sorted_by):
                self._decide(map(column, node.input.columns), below)  # they break ties
            self._decide_choices(map(Scalar, _arguments(call_within(call.call.tree))), below)
            value = _read(call.call, below)
            what = self._own(node.input, call.call)
            if what:
                value = _Value(f"{what} OVER (…)", frozenset())
            if value:
                values[call.name] = value
            if what.lower() in _IN_TIES:
                self._store(values[call.name], "a row")
        return values

    def _decide(self, scalars: Iterable[Scalar], values: _Values) -> None:
        for scalar in scalars:
            value = _read(scalar, values)
            if value is not None:
                self._store(value, scalar.sql("spark"))

    def _decide_choices(self, scalars: Iterable[Scalar], values: _Values) -> None:
        """The same for those that may be equal for different values that they read."""
        self._decide((scalar for scalar in scalars if _is_choice(scalar.tree, values)), values)

    def _store(self, value: _Value, shown: str) -> None:
        detail = f"{shown} depends on {value.what}, which depends on the order of the rows"
        reason = Fallback(Reason.OPERATOR_NOT_SUPPORTED, detail)
        if not value.nodes:
            raise NotIncremental(reason)
        self._reason = self._reason or reason
        self._by |= value.nodes

    def _own(self, input: Relation, argument: Scalar, function: AggregateFunction | None = None) -> str:
        """The text of an aggregate if its own value depends on the order, else "".

        function  None if the argument is the whole call
        """
        if function is None or isinstance(function, Evaluated):
            call = call_within(argument.tree)
            name, arguments = spark_name(call), _arguments(call)
        else:
            name, arguments = function.name, [argument.tree]
        shown = name.upper()
        first = next(iter(arguments), None)
        read = first.expressions[0] if isinstance(first, exp.Distinct) else first
        if name in _IN_DIGITS or (name in _LISTS | _IN_TIES and not _is_ordered(argument.tree, read)):
            return shown
        if name not in _ADDING or read is None:
            return ""
        type_ = self._type(input, Scalar(read))
        # Spark adds texts up in DOUBLE.
        floating = type_.holds_floating or type_ == STRING or (type_ == BIGINT and name in _IN_DOUBLE)
        return f"{shown} of {str(type_).upper()}" if floating else ""

    def _type(self, input: Relation, argument: Scalar) -> SparkType:
        if self._types_of is None:
            return _DOUBLE
        return self._types_of(Project(input, (("argument", argument),)))[0]


def _arguments_of_call(call: Call) -> Iterable[Scalar]:
    if call.argument is None:
        return ()
    if isinstance(call.function, Evaluated):  # the argument is the whole call
        return map(Scalar, _arguments(call_within(call.argument.tree)))
    return (call.argument,)


def _is_counted(call: Call, values: _Values) -> bool:
    """Whether a call counts by more than whether a column is NULL, or if that varies."""
    if call.function != COUNT or call.argument is None:
        return False
    name = call.argument.as_column
    return name is None or (name in values and values[name].null_varies)


def _read(scalar: Scalar, values: _Values) -> _Value | None:
    """The order-dependent values that an expression reads, combined; None if it depends on none."""
    if not values:
        return None
    found: _Value | None = None
    waiting = [scalar.tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, exp.Column) and node.name in values:
            found = _both(found, values[node.name])
        elif _is_of_any_order(node, values):
            waiting.extend(_arguments(node)[1:])
        elif not _asks_for_stable_null(node, values):
            waiting.extend(node.iter_expressions())
    if found is None or scalar.as_column is not None:
        return found
    return replace(found, is_list=False, null_varies=True)


def _is_choice(tree: exp.Expr, values: _Values) -> bool:
    """Whether an expression may be equal for values that differ by more than last digits or an order."""
    if isinstance(tree, exp.Column) or _read(Scalar(tree), values) is None:
        return False
    if isinstance(tree, _TELLING) or (isinstance(tree, exp.Func) and spark_name(tree) in _TELLING_FUNCTIONS):
        return any(_is_choice(child, values) for child in tree.iter_expressions())
    if isinstance(tree, exp.Cast):
        to = spark_type(tree.to.sql(dialect=SparkText).lower())
        return not (to.floating or to == STRING) or _is_choice(tree.this, values)
    return True


def _value_of(node: exp.Expr | None, values: _Values) -> _Value | None:
    """The order-dependent value that a node names; None for a stable column, or an expression."""
    return values.get(node.name) if isinstance(node, exp.Column) else None


def _asks_for_stable_null(node: exp.Expr, values: _Values) -> bool:
    """Whether a node is `x IS NULL` for a column for which this does not vary."""
    if not isinstance(node, exp.Is) or not isinstance(node.expression, exp.Null):
        return False
    value = _value_of(node.this, values)
    return value is not None and not value.null_varies


def _makes_as_many_rows(generator: Scalar, values: _Values) -> bool:
    """Whether a generator makes a row for each element of a list, or as many as the number in STACK."""
    call = generator.tree
    first = next(iter(_arguments(call)), None) if isinstance(call, exp.Func) else None
    value = _value_of(first, values)
    return spark_name(call) == "stack" or (value is not None and value.is_list)


def _is_of_any_order(node: exp.Expr, values: _Values) -> bool:
    """Whether a call reads such a list and ignores its order."""
    if not isinstance(node, exp.Func):
        return False
    value = _value_of(next(iter(_arguments(node)), None), values)
    if value is None or not value.is_list or spark_name(node) not in _WHATEVER_THE_ORDER:
        return False
    return not node.find(exp.Lambda)  # elements that it compares as equal stay in their order


def _is_ordered(call: exp.Expr, argument: exp.Expr | None) -> bool:
    """Whether WITHIN GROUP orders by the very argument, so that rows that tie are equal."""
    within = call.find(exp.WithinGroup)
    return within is not None and (
        argument is None or argument in (ordered.this for ordered in within.expression.expressions)
    )


def _arguments(call: exp.Expr) -> list[exp.Expr]:
    second = call.args.get("expression")
    return arguments_of(call) + ([second] if isinstance(second, exp.Expr) else [])


def _both(one: _Value | None, other: _Value) -> _Value:
    if one is None:
        return other
    # If one of them does not come from an aggregate, storing the other does not help.
    nodes = one.nodes | other.nodes if one.nodes and other.nodes else frozenset()
    return _Value(one.what, nodes)
