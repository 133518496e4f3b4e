"""LEFT and SEMI JOIN at the edges: the first match, the last match, and everything that does not match."""

import pytest

from tests.laws.small_tables import change_of

BY_KEY = "select r.k, r.a, s.a as b from r left join s on r.k = s.k"
NULL_SAFE = "select r.k, r.a, s.a as b from r left join s on r.k <=> s.k"
BY_ROW = "select r.k, r.a, s.a as b from r left join s on r.k = s.k and r.a < s.a"
ON_TRUE = "select r.k, s.k as j from r left join s on true"


def test_the_first_match_takes_the_null_row_away():
    change = change_of(BY_KEY, rows={"r": [(1, 5)]}, come={"s": [(1, 9)]})
    assert change == {(1, 5, None): -1, (1, 5, 9): +1}


def test_losing_the_last_match_brings_the_null_row_back():
    change = change_of(BY_KEY, rows={"r": [(1, 5)], "s": [(1, 9)]}, gone={"s": [(1, 9)]})
    assert change == {(1, 5, 9): -1, (1, 5, None): +1}


def test_the_null_row_comes_once_for_each_copy_of_the_preserved_row():
    change = change_of(BY_KEY, rows={"r": [(1, 5), (1, 5)], "s": [(1, 9)]}, gone={"s": [(1, 9)]})
    assert change == {(1, 5, 9): -2, (1, 5, None): +2}


def test_losing_one_of_two_matches_brings_no_null_row():
    change = change_of(BY_KEY, rows={"r": [(1, 5)], "s": [(1, 8), (1, 9)]}, gone={"s": [(1, 9)]})
    assert change == {(1, 5, 9): -1}


def test_a_second_match_takes_no_null_row_away():
    change = change_of(BY_KEY, rows={"r": [(1, 5)], "s": [(1, 8)]}, come={"s": [(1, 9)]})
    assert change == {(1, 5, 9): +1}


def test_a_match_exchanged_for_another_leaves_no_gap():
    change = change_of(
        BY_KEY, rows={"r": [(1, 5)], "s": [(1, 8)]}, gone={"s": [(1, 8)]}, come={"s": [(1, 9)]}
    )
    assert change == {(1, 5, 8): -1, (1, 5, 9): +1}


def test_a_match_written_again_changes_nothing():
    change = change_of(
        BY_KEY, rows={"r": [(1, 5)], "s": [(1, 8)]}, gone={"s": [(1, 8)]}, come={"s": [(1, 8)]}
    )
    assert change == {}


def test_a_match_that_moves_to_another_key():
    rows = {"r": [(1, 5), (2, 6)], "s": [(1, 9)]}
    change = change_of(BY_KEY, rows, gone={"s": [(1, 9)]}, come={"s": [(2, 9)]})
    assert change == {(1, 5, 9): -1, (1, 5, None): +1, (2, 6, None): -1, (2, 6, 9): +1}


def test_a_null_key_matches_nothing():
    rows = {"r": [(None, 5)], "s": [(None, 8)]}
    assert change_of(BY_KEY, rows, come={"s": [(None, 9)]}) == {}
    assert change_of(BY_KEY, rows, gone={"s": [(None, 8)]}) == {}


def test_a_null_key_matches_null_where_equality_is_null_safe():
    change = change_of(NULL_SAFE, rows={"r": [(None, 5)]}, come={"s": [(None, 9)]})
    assert change == {(None, 5, None): -1, (None, 5, 9): +1}


def test_a_new_preserved_row_without_match_is_padded():
    assert change_of(BY_KEY, rows={}, come={"r": [(1, 5)]}) == {(1, 5, None): +1}


def test_a_preserved_row_that_goes_takes_its_padding_along():
    assert change_of(BY_KEY, rows={"r": [(1, 5)]}, gone={"r": [(1, 5)]}) == {(1, 5, None): -1}


def test_row_and_first_match_come_together():
    assert change_of(BY_KEY, rows={}, come={"r": [(1, 5)], "s": [(1, 9)]}) == {(1, 5, 9): +1}


def test_row_and_last_match_go_together():
    rows = {"r": [(1, 5)], "s": [(1, 9)]}
    assert change_of(BY_KEY, rows, gone=rows) == {(1, 5, 9): -1}


def test_the_row_goes_while_its_first_match_comes():
    change = change_of(BY_KEY, rows={"r": [(1, 5)]}, gone={"r": [(1, 5)]}, come={"s": [(1, 9)]})
    assert change == {(1, 5, None): -1}


def test_a_new_row_of_a_key_whose_last_match_goes():
    rows = {"r": [(1, 5)], "s": [(1, 9)]}
    change = change_of(BY_KEY, rows, gone={"s": [(1, 9)]}, come={"r": [(1, 6)]})
    assert change == {(1, 5, 9): -1, (1, 5, None): +1, (1, 6, None): +1}


def test_equal_keys_are_no_match_if_the_rest_of_on_is_not_true():
    rows = {"r": [(1, 5), (1, 9)]}
    change = change_of(BY_ROW, rows, come={"s": [(1, 7)]})
    assert change == {(1, 5, None): -1, (1, 5, 7): +1}


def test_on_that_is_null_is_no_match():
    assert change_of(BY_ROW, rows={"r": [(1, None)]}, come={"s": [(1, 7)]}) == {}


def test_copies_of_a_row_turn_together_where_on_is_no_equality():
    rows = {"r": [(1, 5), (1, 5)], "s": [(1, 7)]}
    change = change_of(BY_ROW, rows, gone={"s": [(1, 7)]})
    assert change == {(1, 5, 7): -2, (1, 5, None): +2}


@pytest.mark.parametrize(
    "on", ["r.k = r.a and r.k = s.k", "r.k = s.k and r.k = r.a", "r.k = s.k and r.k <=> r.a"]
)
def test_on_may_compare_two_columns_of_the_preserved_row(on):
    sql = f"select r.k, r.a, s.a as b from r left join s on {on}"
    rows = {"r": [(1, 1), (1, 2)]}
    change = change_of(sql, rows, come={"r": [(2, 2), (2, 3)], "s": [(1, 7), (2, 8)]})
    assert change == {(1, 1, None): -1, (1, 1, 7): +1, (2, 2, 8): +1, (2, 3, None): +1}


@pytest.mark.parametrize("on", ["s.k = s.a and r.k = s.k", "r.k = s.k and s.k = s.a"])
def test_on_may_compare_two_columns_of_a_match(on):
    sql = f"select r.k, s.a as b from r left join s on {on}"
    change = change_of(sql, rows={"r": [(1,), (2,)]}, come={"s": [(1, 1), (2, 3)]})
    assert change == {(1, None): -1, (1, 1): +1}


@pytest.mark.parametrize("copies", [1, 2])
def test_on_true_pads_while_the_other_side_is_empty(copies):
    rows = {"r": [(1,)] * copies}
    assert change_of(ON_TRUE, rows, come={"s": [(7,), (8,)]}) == {
        (1, None): -copies,
        (1, 7): +copies,
        (1, 8): +copies,
    }


def test_right_join_is_the_mirror_image():
    sql = "select s.k, s.a, r.a as b from r right join s on r.k = s.k"
    change = change_of(sql, rows={"s": [(1, 5)], "r": [(1, 9)]}, gone={"r": [(1, 9)]})
    assert change == {(1, 5, 9): -1, (1, 5, None): +1}


def test_a_chain_of_left_joins_turns_as_a_whole():
    sql = "select r.k, s.k as j, t.k as i from r left join s on r.k = s.k left join t on s.a = t.k"
    rows = {"r": [(1,)], "s": [(1, 4)], "t": [(4,)]}
    assert change_of(sql, rows, gone={"s": [(1, 4)]}) == {(1, 1, 4): -1, (1, None, None): +1}


def test_an_aggregate_over_the_null_supplying_side():
    sql = "select r.k, q.n from r left join (select k, count(*) as n from s group by k) q on r.k = q.k"
    rows = {"r": [(1,)], "s": [(1, 5)]}
    assert change_of(sql, rows, gone={"s": [(1, 5)]}) == {(1, 1): -1, (1, None): +1}
    assert change_of(sql, rows, come={"s": [(1, 6)]}) == {(1, 1): -1, (1, 2): +1}


@pytest.mark.parametrize(("join", "weight"), [("semi", +1), ("anti", -1)])
def test_a_match_of_the_key_alone_is_none_of_a_semi_join(join, weight):
    sql = f"select r.k, r.a from r left {join} join s on r.k = s.k and r.a < s.a"
    change = change_of(sql, rows={"r": [(1, 5)], "s": [(1, 3)]}, come={"s": [(1, 9)]})
    assert change == {(1, 5): weight}
