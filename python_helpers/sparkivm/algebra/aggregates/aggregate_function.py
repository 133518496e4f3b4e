"""What each aggregate of a query defines, and a call of one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

from sparkivm.algebra.moment import shown
from sparkivm.algebra.scalar import Scalar
from sparkivm.spark.data_types import SparkType

if TYPE_CHECKING:
    from sparkivm.algebra.aggregates.stored_aggregate import StoredAggregate

OverNoRows = Literal["null", "0", "array()", "unknown"]  # SQL


@dataclass(frozen=True)
class AggregateFunction:
    """A function of a group's rows: `name` is for column names, `sql` is over a bag, with {x}."""

    name: str
    sql: str

    def text(self, x: str) -> str:
        return self.sql.format(x=x)


class HiddenColumns(Protocol):
    """The hidden columns of one argument."""

    def add(self, word: str, function: StoredAggregate) -> str:
        """The column of a function, added if it is missing. `word` becomes part of its name."""


@dataclass(frozen=True, kw_only=True)
class QueryAggregate(AggregateFunction, ABC):
    """An aggregate that a query may call.

    over_no_rows    its value over empty input: without keys, above an outer join, in PIVOT
    ignores_copies  whether DISTINCT makes no difference
    may_add_up      whether its hidden columns add up for arguments of some types
    asks_type       whether its hidden columns depend on the type of the argument
    follows_values  whether a state may follow from the changed rows alone, so that an argument must have the
                    same value each time it is computed
    """

    over_no_rows: OverNoRows
    ignores_copies: bool
    may_add_up: bool
    asks_type: bool
    follows_values: bool

    @abstractmethod
    def formula(self, hidden: HiddenColumns, type_: SparkType | None) -> Scalar:
        """Its value over hidden columns, which it adds to `hidden`.

        type_  of the argument, if `asks_type`
        """


@dataclass(frozen=True)
class Call:
    """One aggregate of a group: its result column, its function, and an expression over the input."""

    name: str
    function: AggregateFunction
    argument: Scalar | None = None

    @property
    def shown(self) -> str:
        """The call for people to read."""
        return self.function.text("" if self.argument is None else shown(self.argument))

    @property
    def called(self) -> QueryAggregate:
        """The function of a query's call."""
        assert isinstance(self.function, QueryAggregate), f"{self.name} is not a column of a query"
        return self.function
