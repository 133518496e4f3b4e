"""What aggregates say about themselves, compared with what they store."""

from __future__ import annotations

import pytest

from sparkivm.algebra import Aggregate, Project
from sparkivm.algebra.aggregates.aggregate_function import QueryAggregate
from sparkivm.algebra.aggregates.count import ROWS, VALUES
from sparkivm.algebra.aggregates.functions import FUNCTIONS, OF_BOOLEANS
from sparkivm.algebra.aggregates.recomputed import Recomputed
from sparkivm.algebra.aggregates.stored_aggregate import Additive, StoredAggregate
from sparkivm.spark.data_types import spark_type
from tests.hidden_by_word import HiddenByWord
from tests.reading import read

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


@pytest.mark.parametrize(
    ("type_", "adds_up"),
    [("decimal(31,0)", True), ("decimal(31,2)", True), ("decimal(32,2)", False), ("decimal(31,11)", False)],
)
def test_an_average_adds_up_if_its_digits_fit(type_, adds_up):
    found = stored(FUNCTIONS["avg"], type_)
    assert all(isinstance(one, Additive) for one in found) == adds_up


def read_as(call: str) -> QueryAggregate:
    """The function of a call's rule."""
    query = read(f"select k, {call} as x from r group by k")
    (aggregate,) = (node for node in query.root.walk() if isinstance(node, Aggregate))
    (found,) = aggregate.calls
    assert isinstance(found.function, QueryAggregate)
    return found.function


@pytest.mark.parametrize(
    ("call", "same"),
    [("every(a > 1)", "bool_and(a > 1)"), ("some(a > 1)", "bool_or(a > 1)"), ("mean(a)", "avg(a)")],
)
def test_functions_with_two_names(call, same):
    assert read_as(call) == read_as(same)


@pytest.mark.parametrize("name", OF_BOOLEANS)
@pytest.mark.parametrize(
    ("argument", "compared"),
    [
        ("s", "CAST(`s` AS BOOLEAN)"),
        ("a > 1", "`a` > 1"),
        ("not a > 1 or s = 'x'", "NOT `a` > 1 OR `s` = 'x'"),
    ],
)
def test_truth_values_are_compared_not_texts(name, argument, compared):
    query = read(f"select k, {name}({argument}) as b from r group by k")
    (aggregate,) = (node for node in query.root.walk() if isinstance(node, Aggregate))
    (call,) = aggregate.calls
    assert call.argument is not None
    below = {
        item: scalar
        for project in query.root.walk()
        if isinstance(project, Project)
        for item, scalar in project.items
    }
    found = below.get(call.argument.as_column or "", call.argument)
    assert found.sql("spark") == compared
