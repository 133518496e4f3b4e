"""What a state table stores: the groups of an aggregate with hidden counts and sums, or the rows of a bag."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count as numbers_from
from typing import Literal

from sparkivm.algebra import Aggregate, Call, Keys, Project, Relation, Scalar, Scan
from sparkivm.algebra.exact_sums import Sum
from sparkivm.algebra.scalar import column
from sparkivm.algebra.sql_expression import expression
from sparkivm.names import COUNT, RESERVED_PREFIX
from sparkivm.plan.types_of import TypesOf, argument_types
from sparkivm.spark.data_types import BIGINT, MOST_DIGITS, SparkType, decimal_type

# Keys of a statement's tables that are no sources: the state, and changes that were computed beforehand.
STATE = f"{RESERVED_PREFIX}state"
STAGED = f"{RESERVED_PREFIX}staged"
WEIGHT_COLUMN = f"{RESERVED_PREFIX}weight"  # of changes whose weights are an ordinary column

Kind = Literal["count", "sum", "min", "max", "recomputed"]

_DIGITS_OF_A_SUM = 10  # Spark adds them to the argument's precision
_DIGITS_ALWAYS_EXACT = 27  # weight (10 digits) times argument fits into 38 digits
_SCALE_DIVIDED = 10  # up to it a quotient has nine digits to spare beyond those of AVG
_SCALE_KEPT = 6  # a product that does not fit keeps this many fraction digits


@dataclass(frozen=True)
class StateColumn:
    """One hidden column of a group: the aggregate that it is, and how it changes.

    count, sum   linear: the column of old ⊎ delta is the sum of both columns
    min, max     kept, taken from the delta, or read again (see plan/group_changes.py)
    recomputed   read again for every group that changes, as its value is no function of old value and delta
    """

    call: Call
    kind: Kind
    type: SparkType | None = None  # of the column, for sums
    counted_by: str = ""  # for sums and extrema: the column that counts the argument's non-NULL values

    @property
    def name(self) -> str:
        return self.call.name

    @property
    def linear(self) -> bool:
        return self.kind in ("count", "sum")


@dataclass(frozen=True)
class GroupState:
    """The state of an Aggregate: keys, hidden columns, the public aggregates as formulas over them."""

    core: Aggregate
    columns: tuple[StateColumn, ...]  # the first is the count of rows
    formulas: tuple[tuple[str, Scalar], ...]  # (column of the core, expression over the state's columns)

    @property
    def keys(self) -> tuple[str, ...]:
        return self.core.keys

    @property
    def names(self) -> tuple[str, ...]:
        """The table's columns in order."""
        return (*self.keys, *(entry.name for entry in self.columns))

    @property
    def linear(self) -> bool:
        """Whether a delta can be added without looking at the state."""
        return all(entry.linear for entry in self.columns)

    @property
    def recomputed(self) -> bool:
        """Whether every changed group has to be read again."""
        return any(entry.kind == "recomputed" for entry in self.columns)

    @property
    def sums(self) -> dict[str, Sum]:
        """The sums by the names of their columns."""
        return {c.name: Sum(c.type, c.counted_by) for c in self.columns if c.type is not None}


@dataclass(frozen=True)
class BagState:
    """The state of any other core: its rows, each copy a row of its own, named as the public columns."""

    core: Relation
    columns: tuple[tuple[str, str], ...]  # pairs of (column of the table, column of the core)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.columns)


State = GroupState | BagState


def stored(state: State, part: Keys | None = None, prefix: str = "") -> Relation:
    """The state table as it was when its frontier was read; with `part` only its rows with these keys."""
    table = Scan(STATE, tuple((prefix + name, name) for name in state.names))
    return table.restrict(part) if part else table


def group_state(core: Aggregate, types_of: TypesOf) -> GroupState:
    """The state of an Aggregate."""
    return _GroupStateBuilder(core).build(argument_types(core, types_of))


class _GroupStateBuilder:
    def __init__(self, core: Aggregate) -> None:
        self._core = core
        self._columns: dict[str, StateColumn] = {COUNT: StateColumn(Call(COUNT, "count_rows"), "count")}
        self._labels: dict[Scalar, str] = {}

    def build(self, types: Sequence[SparkType | None]) -> GroupState:
        formulas = [
            (call.name, self._formula(call, type_))
            for call, type_ in zip(self._core.calls, types, strict=True)
        ]
        return GroupState(self._core, tuple(self._columns.values()), tuple(formulas))

    def _formula(self, call: Call, type_: SparkType | None) -> Scalar:
        argument = call.argument
        if argument is None:
            return expression("n", n=COUNT)
        label = self._labels.setdefault(argument, self._label(argument))
        count = f"{RESERVED_PREFIX}n_{label}"
        if call.function == "count":
            return expression("n", n=self._add(StateColumn(Call(count, "count", argument), "count")))
        if call.function in ("min", "max"):
            kind: Kind = "min" if call.function == "min" else "max"
            self._add(StateColumn(Call(count, "count", argument), "count"))
            entry = StateColumn(
                Call(f"{RESERVED_PREFIX}{kind}_{label}", call.function, argument), kind, counted_by=count
            )
            return expression("x", x=self._add(entry))
        sum_type = None if type_ is None else linear_sum_type(type_)
        if type_ is None or sum_type is None or (call.function == "avg" and not _average_of_sum(type_)):
            entry = StateColumn(
                Call(f"{RESERVED_PREFIX}{call.function}_{label}", call.function, argument), "recomputed"
            )
            return expression("x", x=self._add(entry))
        self._add(StateColumn(Call(count, "count", argument), "count"))
        factor, type_of_sum = "cast({weight} as bigint)", ""
        if sum_type != BIGINT:
            factor, type_of_sum = "cast({weight} as decimal(10,0))", str(sum_type)
        weighed = Call(f"{RESERVED_PREFIX}sum_{label}", "sum", argument, factor, type_of_sum)
        summed = self._add(StateColumn(weighed, "sum", sum_type, counted_by=count))
        if call.function == "sum":
            return expression("case when n > 0 then s end", n=count, s=summed)
        return _average(summed, count, type_)

    def _add(self, entry: StateColumn) -> str:
        known = self._columns.setdefault(entry.name, entry)
        assert known == entry, f"{entry.name} is two aggregates"
        return entry.name

    def _label(self, argument: Scalar) -> str:
        """A column's name, or a number that is none."""
        if argument.as_column:
            return argument.as_column
        numbers = map(str, numbers_from(len(self._labels) + 1))
        return next(number for number in numbers if number not in self._taken)

    @property
    def _taken(self) -> set[str]:
        names = (call.argument.as_column for call in self._core.calls if call.argument is not None)
        return {name for name in names if name} | set(self._labels.values())


def _average_of_sum(type_: SparkType) -> bool:
    """Whether AVG can be had from sum and count to the last digit."""
    # Spark adds a BIGINT's average up in DOUBLE, where the last digits depend on the order.
    if type_.decimal is None:
        return type_ != BIGINT
    precision, scale = type_.decimal
    return precision + 5 <= MOST_DIGITS and scale <= _SCALE_DIVIDED


def _average(summed: str, count: str, type_: SparkType) -> Scalar:
    """AVG as Spark computes it: integers in DOUBLE, decimals with four digits more on both sides.

    The quotient of two decimals as SQL types it would be rounded twice, or have too few digits. So the whole
    part, which is exact, and the rest, of the same sign and below one, are divided by themselves.
    """
    if type_.decimal is None:
        return expression("case when n > 0 then cast(s as double) / cast(n as double) end", n=count, s=summed)
    precision, scale = type_.decimal
    result = decimal_type(min(precision + 4, MOST_DIGITS), min(scale + 4, MOST_DIGITS))
    n = "cast(n as decimal(15,0))"
    whole = f"cast((s - s % {n}) / {n} as decimal({max(precision - scale, 1)},0))"
    rest = f"cast((s % {n}) / {n} as decimal({scale + 5},{scale + 4}))"
    return expression(f"case when n > 0 then cast({whole} + {rest} as {result}) end", n=count, s=summed)


def linear_sum_type(argument: SparkType) -> SparkType | None:
    """The type of SUM if adding a delta to it is exact, else None.

    Integers wrap around or stay: both are a ring. Decimals: the product with a weight and the sum must keep
    all digits. Floating point is not associative, so its sums are recomputed.
    """
    if argument.whole:
        return BIGINT
    if argument.decimal is None:
        return None
    precision, scale = argument.decimal
    if precision > _DIGITS_ALWAYS_EXACT and scale > _SCALE_KEPT:
        return None
    return decimal_type(min(precision + _DIGITS_OF_A_SUM, MOST_DIGITS), scale)


def groups_of(state: GroupState, input: Relation) -> Relation:
    """One row of the state's shape for each group of `input`."""
    return guarded(state, Aggregate(input, state.keys, tuple(entry.call for entry in state.columns)))


def guarded(state: GroupState, rows: Relation) -> Relation:
    """`rows` of the state's shape, in which a sum that overflowed its type is an error, not NULL."""
    wide = {name: found for name, found in state.sums.items() if found.may_overflow}
    if not wide:
        return rows
    return Project(
        rows,
        tuple(
            (name, wide[name].checked(name, wide[name].counted_by) if name in wide else column(name))
            for name in rows.columns
        ),
    )
