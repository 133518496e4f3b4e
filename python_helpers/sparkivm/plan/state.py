"""What a state table stores: the groups of an aggregate with hidden counts and sums, or the rows of a bag."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import count as numbers_from

from sparkivm.algebra import Aggregate, HiddenColumn, Keys, Project, Relation, Scalar, Scan
from sparkivm.algebra.aggregates.count import ROWS
from sparkivm.algebra.aggregates.recomputed import Recomputed
from sparkivm.algebra.aggregates.stored_aggregate import StoredAggregate
from sparkivm.algebra.scalar import column
from sparkivm.names import COUNT, RESERVED_PREFIX
from sparkivm.plan.stamps import Stamp
from sparkivm.plan.types_of import MapTypes, TypesOf, argument_types
from sparkivm.spark.data_types import SparkType

# Keys of a statement's tables that are not sources: the state, and staged changes.
STATE = f"{RESERVED_PREFIX}state"
STAGED = f"{RESERVED_PREFIX}staged"
WEIGHT_COLUMN = f"{RESERVED_PREFIX}weight"  # of changes whose weights are in an ordinary column


@dataclass(frozen=True)
class GroupState:
    """The state of an Aggregate: keys, hidden columns, and the public aggregates as formulas over them.

    types  of the arguments of the core's calls; None for calls that do not need them
    shown  expressions over the state's columns: a group's row is as before if all of them are; for stamps
    maps   columns of the core, at any depth, that hold a MAP
    """

    core: Aggregate
    columns: tuple[HiddenColumn, ...]  # the first is the count of rows
    formulas: tuple[tuple[str, Scalar], ...]  # (column of the core, expression over the state's columns)
    types: tuple[SparkType | None, ...]
    stamps: tuple[Stamp, ...] = ()
    shown: tuple[Scalar, ...] = ()
    maps: MapTypes = ()

    @property
    def keys(self) -> tuple[str, ...]:
        return self.core.keys

    @property
    def names(self) -> tuple[str, ...]:
        """The table's columns in order."""
        return (*self.values, *(stamp.name for stamp in self.stamps))

    @property
    def values(self) -> tuple[str, ...]:
        """The columns without stamps."""
        return (*self.keys, *(entry.name for entry in self.columns))

    @property
    def linear(self) -> bool:
        """Whether a delta can be added without reading the state."""
        return not self.stamps and all(entry.linear for entry in self.columns)

    @property
    def recomputed(self) -> bool:
        """Whether every changed group must be read again."""
        return any(isinstance(entry.function, Recomputed) for entry in self.columns)


@dataclass(frozen=True)
class BagState:
    """The state of any other core: its rows, one row per copy, with the public column names.

    maps  columns of the core, at any depth, that hold a MAP
    """

    core: Relation
    columns: tuple[tuple[str, str], ...]  # pairs of (column of the table, column of the core)
    stamps: tuple[Stamp, ...] = ()
    maps: MapTypes = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The table's columns in order."""
        return (*self.values, *(stamp.name for stamp in self.stamps))

    @property
    def values(self) -> tuple[str, ...]:
        """The columns without stamps."""
        return tuple(name for name, _ in self.columns)


State = GroupState | BagState


def with_core(state: State, core: Relation) -> State:
    """The same state for a core that has the same rows."""
    if isinstance(state, GroupState):
        assert isinstance(core, Aggregate), "a state of groups is an aggregate's"
        return replace(state, core=core)
    return replace(state, core=core)


def stored(state: State, part: Keys | None = None, prefix: str = "") -> Relation:
    """The state table as of the frontier that was read; with `part`, only its rows with these keys."""
    table = Scan(STATE, tuple((prefix + name, name) for name in state.names))
    return table.restrict(part) if part else table


def group_state(core: Aggregate, types_of: TypesOf) -> GroupState:
    labels, columns = _labels(core), {COUNT: HiddenColumn(COUNT, ROWS)}
    formulas: list[tuple[str, Scalar]] = []
    types = tuple(argument_types(core, types_of))
    for call, type_ in zip(core.calls, types, strict=True):
        label = f"_{labels[call.argument]}" if call.argument is not None else ""
        formulas.append((call.name, call.called.formula(_Hidden(columns, call.argument, label), type_)))
    return GroupState(core, tuple(columns.values()), tuple(formulas), types)


def _labels(core: Aggregate) -> dict[Scalar, str]:
    """A label for each argument: its column's name, or a number that is not a column name."""
    arguments = dict.fromkeys(call.argument for call in core.calls if call.argument is not None)
    taken = {argument.as_column for argument in arguments}
    labels: dict[Scalar, str] = {}
    for number, argument in enumerate(arguments, 1):
        free = (text for text in map(str, numbers_from(number)) if text not in taken)
        labels[argument] = argument.as_column or next(free)
        taken.add(labels[argument])
    return labels


@dataclass(frozen=True)
class _Hidden:
    """The hidden columns, and the argument for which more are added."""

    columns: dict[str, HiddenColumn]
    argument: Scalar | None
    label: str

    def add(self, word: str, function: StoredAggregate) -> str:
        entry = HiddenColumn(f"{RESERVED_PREFIX}{word}{self.label}", function, self.argument)
        known = self.columns.setdefault(entry.name, entry)
        assert known == entry, f"{entry.name} is two aggregates"
        return entry.name


def groups_of(state: GroupState, input: Relation) -> Relation:
    """One row of the state's shape for each group of `input`."""
    return guarded(state, Aggregate(input, state.keys, state.columns))


def guarded(state: GroupState, rows: Relation) -> Relation:
    """`rows` of the state's shape, in which a sum that overflows its type is an error, not NULL."""
    checked = {entry.name: entry.checked() for entry in state.columns if entry.linear}
    if all(scalar.as_column for scalar in checked.values()):
        return rows
    return Project(rows, tuple((name, checked.get(name, column(name))) for name in rows.columns))
