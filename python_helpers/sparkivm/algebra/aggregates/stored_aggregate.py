"""What each hidden column of a group defines: how it changes with the group's rows."""

from __future__ import annotations

from dataclasses import dataclass

from sparkivm.algebra.aggregates.aggregate_function import AggregateFunction, Call
from sparkivm.algebra.scalar import Scalar
from sparkivm.algebra.sql_expression import expression


@dataclass(frozen=True, kw_only=True)
class StoredAggregate(AggregateFunction):
    """The aggregate that a hidden column stores.

    shown  the text for the column in an explained plan
    """

    shown: str


@dataclass(frozen=True, kw_only=True)
class Additive(StoredAggregate):
    """One that adds up: f(A ⊎ B) = f(A) + f(B), f(−A) = −f(A). Deltas are added without reading the state.

    All but `adder` and `counted_by` are SQL; s is the column, n the column that counts its values.

    adder        the aggregate that adds up the rows' contributions and a group's entries
    plus, minus  {one} and {other} are not NULL
    contributed  the contribution of a row with {x} and {weight}
    change       from the {total} of contributions, in the column's type
    weighed      the same, if there may be no contributions
    folded       from the {total} of a group's entries
    checked      s, or an error if it is too large to be added up
    bounded      the {total} of two checked values, checked again
    presented    s as the value of the aggregate over the group's rows
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
        """A linear column, with a prefix; an error if its value is too large to be added up."""
        function = self.additive
        return expression(function.checked, s=prefix + self.name, n=prefix + function.counted_by)

    def presented(self) -> Scalar:
        """A linear column as the value of the aggregate over the group's rows."""
        return expression(self.additive.presented, s=self.name, n=self.additive.counted_by)
