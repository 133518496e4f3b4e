"""The hidden columns of a group state."""

from __future__ import annotations

import pytest

from sparkivm.algebra import Aggregate, Call, Scan
from sparkivm.algebra.aggregates.sum import SUM
from sparkivm.algebra.scalar import column
from sparkivm.algebra.sql_expression import expression
from sparkivm.plan.state import group_state
from sparkivm.spark.data_types import BIGINT

ROWS = Scan("t", (("k", "k"), ("a", "a"), ("1", "1"), ("2", "2")))
ARGUMENTS = {"a": column("a"), "1": column("1"), "2": column("2")} | {
    f"a+{number}": expression(f"x + {number}", x="a") for number in (1, 2, 3)
}


@pytest.mark.parametrize(
    ("arguments", "labels"),
    [
        (["a", "1"], ["a", "1"]),
        (["a+1", "a+2"], ["1", "2"]),
        (["a+1", "a", "a+2"], ["1", "a", "3"]),
        (["a+1", "a+2", "1"], ["2", "3", "1"]),  # a column is named like a number
        (["1", "a+1", "a+2", "2"], ["1", "3", "4", "2"]),
    ],
)
def test_each_argument_has_columns_of_its_own(arguments, labels):
    calls = tuple(Call(f"s{i}", SUM, ARGUMENTS[name]) for i, name in enumerate(arguments))
    state = group_state(Aggregate(ROWS, ("k",), calls), lambda relation: (BIGINT,) * len(relation.columns))
    assert [one.name for one in state.columns[1:]] == [
        f"__ivm_{what}_{label}" for label in labels for what in ("n", "sum")
    ]
