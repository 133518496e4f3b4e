"""ROLLUP, CUBE and lists of sets: which groups they make."""

from __future__ import annotations

import pytest

from tests.reading import read

SETS = {
    "rollup (k, a)": "grouping sets ((k, a), (k), ())",
    "k, a with rollup": "grouping sets ((k, a), (k), ())",
    "rollup ((k, a), b)": "grouping sets ((k, a, b), (k, a), ())",
    "cube (k, a)": "grouping sets ((k, a), (k), (a), ())",
    "k, a with cube": "grouping sets ((k, a), (k), (a), ())",
    "k, a grouping sets ((k), (a))": "grouping sets ((k), (a))",
    "k, rollup (a)": "grouping sets ((k, a), (k))",
    "grouping sets (rollup (k, a), (b))": "grouping sets ((k, a), (k), (), (b))",
}


@pytest.mark.parametrize("grouping", SETS)
def test_it_stands_for_these_sets(grouping):
    one, other = (read(f"select max(b) as m from r group by {sets}") for sets in (grouping, SETS[grouping]))
    assert str(one) == str(other)
