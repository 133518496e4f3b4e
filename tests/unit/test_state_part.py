"""Which part of a state is replaced, and how many queries it takes to find it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import pytest

from sparkivm.refresh.decide import state_part
from sparkivm.refresh.decide.state_part import find_part

MOST = state_part._MOST_VALUES


class Asked:
    """Answers queries about changed rows. In the state, the values of each column have `held` rows."""

    def __init__(self, rows: Sequence[tuple[Any, ...]], columns: Sequence[str], *held: int) -> None:
        self.rows, self.columns, self.held = rows, columns, held
        self.questions: list[str] = []

    def query(self, sql: str) -> list[dict[str, Any]]:
        self.questions.append(sql)
        if "approx_count_distinct" in sql:
            return [{f"{what}{i}": value for i in range(len(self.columns)) for what, value in self._range(i)}]
        if "count(*)" in sql:
            asked = re.findall("count_if.`([^`]*)` .*? as (held[0-9])", sql)
            held = dict(zip(self.columns, self.held, strict=True))
            return [{"changed": len(self.rows), **{number: held[name] for name, number in asked}}]
        if sql.startswith("select distinct"):
            (index,) = (i for i, name in enumerate(self.columns) if f"`{name}`" in sql)
            return [{"value": value} for value in dict.fromkeys(row[index] for row in self.rows)][: MOST + 1]
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows[: MOST + 1]]

    def _range(self, index: int) -> list[tuple[str, Any]]:
        values = [row[index] for row in self.rows]
        return [("n", len(set(values))), ("a", min(values)), ("z", max(values))]

    def part(self, state_rows: float, *, exact: bool = False) -> str | None:
        found = find_part(self, "changed", "state", state_rows, self.columns, exact)  # type: ignore[arg-type]
        return None if found is None else found.predicate


def test_the_values_of_a_key():
    asked = Asked([(2,), (None,), (1,), (2,)], ["k"])
    assert asked.part(1e9, exact=True) == "`k` in (1, 2) or `k` is null"
    assert len(asked.questions) == 1


@pytest.mark.parametrize(("state_rows", "questions"), [(4 * 1000, 1), (4 * 1000 + 1, 2)])
def test_a_number_of_a_wide_range_has_few_rows_per_value(state_rows, questions):
    asked = Asked([(1, "a"), (1000, "b")], ["id", "name"], 2, 3)
    assert asked.part(state_rows) == "`id` in (1, 1000)"
    assert len(asked.questions) == questions


def test_a_part_that_holds_much_more_than_what_changed_is_not_replaced():
    asked = Asked([(1, "a"), (2, "b")], ["id", "name"], 100_009, 100_009)
    assert asked.part(1e9) is None
    asked.held = 100_008, 100_009
    assert asked.part(1e9) == "`id` in (1, 2)"


def test_the_column_whose_values_have_the_fewest_rows():
    """After an update of few rows a key may have only one value, and what was updated has two."""
    asked = Asked([(77, 27, "x"), (77, 34, "x")], ["id", "qty", "name"], 1, 80, 2000)
    assert asked.part(2000) == "`id` in (77)"
    assert len(asked.questions) == 2
    asked.held = 80, 80, 1
    assert asked.part(2000) == "`name` in ('x')"


def test_in_a_large_state_the_widest_column_is_counted_alone_first():
    asked = Asked([(1, "a"), (2, "b")], ["id", "name"], 2, 5)
    assert asked.part(1e9) == "`id` in (1, 2)"
    assert [question.count("count_if") for question in asked.questions] == [0, 1]


def test_not_all_columns_are_counted():
    columns = ["id", "a", "b", "c", "d", "e"]
    asked = Asked([(1, 1, 1, 1, 2, 1), (1, 1, 1, 9, 3, 1)], columns, 2, 3, 3, 90, 4, 1)
    assert asked.part(1e9) == "`id` in (1)"
    assert asked.questions[-1].count("count_if") == 4


def test_if_many_rows_changed_the_columns_of_widest_range_are_tried_in_turn():
    rows = [(i, 2 * i, 0) for i in range(state_part._FEW_ROWS + 1)]
    asked = Asked(rows, ["a", "b", "c"], 5, 5_000_000, 1)
    part = asked.part(1e9)
    assert part is not None
    assert part.startswith("`a` in (0, 1, 2, ")
    assert len(asked.questions) == 3


def test_a_part_of_many_values_is_their_range():
    asked = Asked([(i // 100, i % 2) for i in range(MOST + 1)], ["group", "half"])
    assert asked.part(1e9, exact=True) == f"`group` in ({', '.join(map(str, range(MOST // 100 + 1)))})"
    assert ["approx" in question for question in asked.questions] == [False, True, False]


def test_too_many_values():
    asked = Asked([(i,) for i in range(MOST + 1)], ["id"])
    assert asked.part(1e9) is None


def test_what_may_not_be_written_down():
    """Delta prints the predicate without escapes."""
    assert Asked([("it's", 1)], ["name", "id"]).part(1) == "`id` in (1)"
    assert Asked([("it's",)], ["name"]).part(1) is None


def test_nothing_changed():
    assert Asked([], ["id", "name"]).part(1e9) == ""
