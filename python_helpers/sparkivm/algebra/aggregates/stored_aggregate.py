"""What a hidden column of a group says of itself: how it changes with the rows of the group."""

from __future__ import annotations

from dataclasses import dataclass

from sparkivm.algebra.aggregates.aggregate_function import AggregateFunction, Call
from sparkivm.algebra.scalar import Scalar
from sparkivm.algebra.sql_expression import expression


@dataclass(frozen=True, kw_only=True)
class StoredAggregate(AggregateFunction):
    """The aggregate that a hidden column is.

    shown  what an explained plan says of the column
    """

    shown: str


@dataclass(frozen=True, kw_only=True)
class Additive(StoredAggregate):
    """One that adds up: f(A ⊎ B) = f(A) + f(B), f(−A) = −f(A). Deltas are added without a look at the state.

    All but the first are SQL; s is the column, n the one that counts the values in it.

    adder        the aggregate that adds up: what rows contribute, and the entries of a group
    plus, minus  of {one} and {other}, which are not NULL
    contributed  by a row with {x} that is there {weight} times
    change       the {total} of contributions, in the column's type
    weighed      the same where there may be none
    folded       the {total} of the entries of a group
    checked      s, an error where it is too large to be added up
    bounded      the {total} of two values that were checked, checked again
    presented    s as the aggregate over the group's rows has it
    counted_by   the name of n, empty if nothing above reads it
    """

    adder: AggregateFunction
    plus: str
    minus: str
    contributed: str
    change: str
    weighed: str
    folded: str
    checked: str
    bounded: str
    presented: str
    counted_by: str

    def of_zset(self, x: str, weight: str) -> str:
        """The aggregate over a Z-set."""
        contributed = self.contributed.format(x=x, weight=weight)
        return self.weighed.format(total=self.adder.text(contributed))

    def of_entries(self, column: str) -> str:
        return self.folded.format(total=self.adder.text(column))


@dataclass(frozen=True)
class HiddenColumn(Call):
    """One hidden column of a group."""

    function: StoredAggregate

    @property
    def linear(self) -> bool:
        """Whether the column of old ⊎ delta is the sum of both columns."""
        return isinstance(self.function, Additive)

    @property
    def additive(self) -> Additive:
        """The function of a linear column."""
        assert isinstance(self.function, Additive), f"{self.name} does not add up"
        return self.function

    def checked(self, prefix: str = "") -> Scalar:
        """A linear column, under a prefix: an error where its value is too large to be added up."""
        function = self.additive
        return expression(function.checked, s=prefix + self.name, n=prefix + function.counted_by)

    def presented(self) -> Scalar:
        """A linear column as the aggregate over the group's rows has it."""
        return expression(self.additive.presented, s=self.name, n=self.additive.counted_by)
