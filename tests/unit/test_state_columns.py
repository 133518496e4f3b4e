"""Whether a state still has the columns that a refresh left."""

from __future__ import annotations

import pytest

from sparkivm.changes.state_columns import columns_of, difference, with_ids
from sparkivm.engine import Field

K, N = Field("k", "int", mapped_to="1"), Field("n", "bigint", mapped_to="2")


@pytest.mark.parametrize(
    ("now", "said"),
    [
        ([K, N], ""),
        (
            [Field("k", "int"), Field("n", "bigint")],
            "",
        ),  # over thrift, the mapping of columns is not known
        ([Field("k", "void", mapped_to="1"), N], ""),
        (
            [Field("k", "int", mapped_to="2"), Field("n", "bigint", mapped_to="1")],
            "its column k was replaced",
        ),
        ([K, Field("n", "bigint", mapped_to="3")], "its column n was replaced"),
        ([K, Field("n", "int", mapped_to="2")], "its column n is int, and was bigint"),
        ([N, K], "its columns are n, k, and were k, n"),
        ([K], "its columns are k, and were k, n"),
        ([K, N, Field("x", "int")], "its columns are k, n, x, and were k, n"),
        ([K, Field("N", "bigint", mapped_to="2")], "its columns are k, N, and were k, n"),
    ],
)
def test_what_tells_columns_from_others(now, said):
    assert difference(columns_of([K, N]), columns_of(now)).startswith(said)
    assert bool(difference(columns_of([K, N]), columns_of(now))) == bool(said)
    assert difference(columns_of(now), columns_of(now)) == ""


def test_of_a_new_state_types_and_ids_may_be_unknown():
    known = (("k", "", ""), ("n", "bigint", ""))
    assert difference(known, columns_of([K, N])) == ""
    assert "n is int" in difference(known, columns_of([K, Field("n", "int")]))


def test_an_id_that_was_not_known_is_that_of_the_commit():
    known = with_ids((("K", "", ""), ("n", "bigint", "2"), ("x", "", "")), {"k": "1", "n": "7"})
    assert known == (("K", "", "1"), ("n", "bigint", "2"), ("x", "", ""))
    replaced = (Field("K", "int", mapped_to="4"), N, Field("x", "int"))
    assert difference(known, columns_of(replaced)) == "its column K was replaced by another one of that name"


@pytest.mark.parametrize(
    "type_", ["void", "array<void>", "struct<a:int,... 3 more fields>", "string collate UTF8_LCASE"]
)
def test_types_that_are_printed_in_several_ways_are_not_compared(type_):
    assert columns_of([Field("x", type_)]) == (("x", "", ""),)
