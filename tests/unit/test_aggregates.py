"""What aggregates say about themselves, compared with what they store."""

from __future__ import annotations

import pytest

from sparkivm.algebra.aggregates.aggregate_function import QueryAggregate
from sparkivm.algebra.aggregates.count import ROWS, VALUES
from sparkivm.algebra.aggregates.functions import FUNCTIONS
from sparkivm.algebra.aggregates.recomputed import Recomputed
from sparkivm.algebra.aggregates.stored_aggregate import Additive, StoredAggregate
from sparkivm.spark.data_types import spark_type
from tests.hidden_by_word import HiddenByWord

TYPES = ("int", "bigint", "double", "decimal(12,2)", "string")


def stored(function: QueryAggregate, type_: str) -> frozenset[StoredAggregate]:
    columns = HiddenByWord()
    function.formula(columns, spark_type(type_))
    return frozenset(columns.values())


@pytest.mark.parametrize("name", FUNCTIONS)
def test_what_a_state_stores_of_an_aggregate(name):
    function = FUNCTIONS[name]
    by_type = [stored(function, type_) for type_ in TYPES]
    assert function.may_add_up == any(all(isinstance(one, Additive) for one in found) for found in by_type)
    assert function.asks_type == (len(set(by_type)) > 1)
    # A count follows from the changed rows too, but only from which of them are NULL.
    follows = any(not isinstance(one, Recomputed) for found in by_type for one in found - {ROWS, VALUES})
    assert function.follows_values == follows
    assert all(len(found) > 0 for found in by_type)
