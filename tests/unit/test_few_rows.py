"""What a run can answer from a few fetched rows of changes."""

from __future__ import annotations

from sparkivm.plan.key_ranges import Span
from sparkivm.refresh.changed_rows.answers import NULL_TEXT, FewRows

ROWS = FewRows(("k", "x"), ((1, ("7", "1")), (-1, (NULL_TEXT, "1")), (1, ("-3", "2")), (-1, ("5", "2"))))


def test_the_span_of_a_column_passes_over_null():
    assert ROWS.span("k") == Span(-3, 7)
    assert ROWS.span("x") == Span(1, 2)


def test_a_column_of_nulls_has_no_span():
    assert FewRows(("k",), ((1, (NULL_TEXT,)),)).span("k") is None


def test_changes_cancel_each_other_in_some_columns():
    assert ROWS.are_silent(["x"])
    assert not ROWS.are_silent(["k"])
    assert not ROWS.are_silent(["x", "k"])


def test_columns_that_were_fetched():
    assert ROWS.know(["x"])
    assert not ROWS.know(["x", "y"])
