"""Values that depend on the order in which Spark reads rows, and what they must not decide.

law  dF(A) = F(A₁) − F(A₀) takes away the rows that are stored only if F(A₀), computed again, is what it was

The last digits of a sum of DOUBLE, or the order of COLLECT_LIST, may come out otherwise the second time. In a
column of a stored row this is found: the row to take away is missing, and the view is rebuilt. In a filter, a
join, a key, a count or an extremum it would not be; so these are refused. At the top of a query such values
are computed again for each group that changes, and never taken away.
"""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot import exp

from sparkivm.algebra import (
    Aggregate,
    Call,
    Filter,
    Generate,
    InnerJoin,
    Project,
    Relation,
    Repeat,
    Scalar,
    UnionAll,
    Window,
)
from sparkivm.algebra.inputs import TwoSides
from sparkivm.errors import NotIncremental
from sparkivm.plan.types_of import TypesOf
from sparkivm.reasons import Fallback, Reason

# In the order of rows; the others in their last digits.
_IN_ORDER = frozenset("array_agg collect_list collect_set histogram_numeric listagg string_agg".split())
_IN_DIGITS = frozenset(
    """
    corr covar_pop covar_samp kurtosis regr_avgx regr_avgy regr_intercept regr_r2 regr_slope regr_sxx regr_sxy
    regr_syy skewness std stddev stddev_pop stddev_samp var_pop var_samp variance
    """.split()
)
_ADDING = frozenset("avg mean sum try_avg try_sum".split())
_FLOATING = ("double", "float")
# The same for a list in any order.
_WHATEVER_THE_ORDER = frozenset(
    "array_contains array_max array_min array_size array_sort cardinality size sort_array".split()
)

_Values = dict[str, str]  # columns whose values depend on the order: what they are, for the user


def refuse_decisions_by_order(core: Relation, types_of: TypesOf) -> None:
    """Refuse a core in which a value that depends on the order decides what is stored.

    Raises: NotIncremental.
    """
    try:
        _Walk(None).check(core)
    except NotIncremental:
        # Of sums only those of some types are meant.
        _Walk(types_of).check(core)


class _Walk:
    """types_of  None takes each sum for one of DOUBLE"""

    def __init__(self, types_of: TypesOf | None) -> None:
        self._types_of = types_of
        self._known: dict[int, _Values] = {}

    def check(self, core: Relation) -> None:
        if isinstance(core, Aggregate):
            self._check_groups(core, self._values(core.input), stored=True)
        else:
            self._values(core)

    def _values(self, node: Relation) -> _Values:
        known = self._known.get(id(node))
        if known is None:
            known = self._known[id(node)] = self._values_of(node)
        return known

    def _values_of(self, node: Relation) -> _Values:
        below: dict[str, str] = {}
        for child in node.children:
            below |= self._values(child)
        match node:
            case Aggregate():
                return self._of_groups(node, below)
            case Window():
                return below | self._of_windows(node, below)
            case Project():
                read = ((name, _what(scalar, below)) for name, scalar in node.items)
                return {name: what for name, what in read if what}
            case UnionAll():
                return {
                    name: what
                    for child in node.inputs
                    for name, source in zip(node.columns, child.columns, strict=True)
                    if (what := self._values(child).get(source))
                }
            case Generate():
                what = _what(node.generator, below)
                return below | (dict.fromkeys(node.names, what) if what else {})
            case Filter():
                _refuse([node.predicate], below)
            case InnerJoin():
                _refuse(node.predicates, below)
            case TwoSides():
                _refuse(node.on.predicates, below)
            case Repeat():
                _refuse([node.times], below)
        return below

    def _of_groups(self, node: Aggregate, below: _Values) -> _Values:
        self._check_groups(node, below, stored=False)
        values: dict[str, str] = {}
        for call in node.calls:
            argument = call.argument
            if argument is None:
                continue
            what = self._own(node.input, call.function, argument) or _what(argument, below)
            if what:
                values[call.name] = what
        return values

    def _check_groups(self, node: Aggregate, below: _Values, *, stored: bool) -> None:
        """Keys, and calls that are followed without a look at the group's rows: those of the state."""
        _refuse_names(node.keys, below)
        for call in node.calls:
            if _is_counted(call) or (stored and call.function in ("min", "max")):
                _refuse([call.argument] if call.argument is not None else [], below)
            elif stored and call.function in ("sum", "avg") and call.argument is not None:
                what = _what(call.argument, below)
                if what and self._type(node.input, call.argument) not in _FLOATING:
                    _refuse([call.argument], below)

    def _of_windows(self, node: Window, below: _Values) -> _Values:
        _refuse_names(node.partition, below)
        values: dict[str, str] = {}
        for call in node.calls:
            _refuse([one.key for one in call.order], below)
            what = self._own(node.input, "other", call.call) or _what(call.call, below)
            if what:
                values[call.name] = what
        return values

    def _own(self, input: Relation, function: str, argument: Scalar) -> str:
        """What an aggregate is if its own value depends on the order; empty if it does not."""
        if function in ("sum", "avg"):
            name, tree = function, argument.tree
        else:
            call = _call_in(argument.tree)
            name, tree = _name(call), call.this
        shown = name.upper()
        if name in _IN_DIGITS or (name in _IN_ORDER and not isinstance(argument.tree, exp.WithinGroup)):
            return shown
        if name not in _ADDING or not isinstance(tree, exp.Expr):
            return ""
        tree = tree.expressions[0] if isinstance(tree, exp.Distinct) else tree
        type_ = self._type(input, Scalar(tree))
        floating = type_ in _FLOATING or (type_ == "bigint" and "avg" in name)
        return f"{shown} of {type_.upper()}" if floating else ""

    def _type(self, input: Relation, argument: Scalar) -> str:
        if self._types_of is None:
            return "double"
        return self._types_of(Project(input, (("argument", argument),)))[0]


def _is_counted(call: Call) -> bool:
    """Whether a call counts by more than whether a column is NULL, which no order changes."""
    return call.function == "count" and call.argument is not None and call.argument.as_column is None


def _call_in(tree: exp.Expr) -> exp.Expr:
    """The function in what may stand around its call."""
    while isinstance(tree, (exp.Filter, exp.WithinGroup, exp.IgnoreNulls, exp.RespectNulls)):
        tree = tree.this
    return tree


def _name(call: exp.Expr) -> str:
    return call.sql(dialect="spark").partition("(")[0].lower()


def _what(scalar: Scalar, values: _Values) -> str:
    """What an expression reads of such values; empty if its own value does not depend on them."""
    waiting = [scalar.tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, exp.Column) and node.name in values:
            return values[node.name]
        if isinstance(node, exp.Is) and isinstance(node.expression, exp.Null) and _is_plain(node.this):
            continue
        if (
            isinstance(node, exp.Func)
            and _name(node) in _WHATEVER_THE_ORDER
            and _is_plain(node.this)
            and values.get(node.this.name, "").lower() in _IN_ORDER
        ):
            waiting.extend(node.expressions)
            continue
        waiting.extend(node.iter_expressions())
    return ""


def _is_plain(tree: object) -> bool:
    return isinstance(tree, exp.Column)


def _refuse(scalars: Iterable[Scalar], values: _Values) -> None:
    for scalar in scalars:
        what = _what(scalar, values)
        if what:
            detail = f"{scalar.sql('spark')} is decided by {what}, which depends on the order of the rows"
            raise NotIncremental(Fallback(Reason.OPERATOR_NOT_SUPPORTED, detail))


def _refuse_names(names: Iterable[str], values: _Values) -> None:
    _refuse((Scalar(exp.column(name, quoted=True)) for name in names), values)
