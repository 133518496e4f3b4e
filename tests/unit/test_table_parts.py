"""The part of a table that a plan reads: a part that several readers need is one condition and counts once."""

from __future__ import annotations

import pytest

from sparkivm.algebra import (
    Changes,
    InnerJoin,
    JoinCondition,
    Keys,
    LeftJoin,
    Lookup,
    Pair,
    Relation,
    Restricted,
    Scan,
    Slice,
    UnionAll,
)
from sparkivm.algebra.project import renamed
from sparkivm.algebra.sql_expression import expression
from sparkivm.plan.key_ranges import KeyRanges, Span
from sparkivm.plan.needed_rows import ChangedColumn

ROWS = 8_000_000.0  # we take 10,000 numbers for one hundredth of them
LARGE = {("facts", "id"): ROWS, ("facts", "other"): ROWS}


def lookup(changed: str, column: str = "id", null_safe: bool = False) -> Relation:
    """Facts whose key is among the changed keys of a table."""
    facts, changes = Scan("facts", (("f", column),)), Changes(changed, (("k", "key"),))
    equal = "f <=> k" if null_safe else "f = k"
    return renamed(InnerJoin((facts, changes), (expression(equal, f="f", k="k"),)), (("f", "f"),))


def part(*lookups: Relation, **spans: tuple[int, int] | None) -> tuple[float, str]:
    """Share and condition of the facts that the lookups need."""
    changed = {ChangedColumn(table, "key"): Span(*found) if found else None for table, found in spans.items()}
    (found,) = KeyRanges(changed, LARGE).parts(UnionAll(lookups)).values()
    return round(found.share, 4), found.condition.sql("spark")


def test_readers_that_need_the_same_count_once():
    share, condition = part(*[lookup("a")] * 3, lookup("b"), a=(1, 100_000), b=(1, 100_000))
    assert (share, condition) == (0.1, "`id` BETWEEN 1 AND 100000")


def test_what_lies_within_what_another_reader_needs_is_not_said():
    share, condition = part(lookup("a"), lookup("b"), a=(1, 100_000), b=(50, 60))
    assert (share, condition) == (0.1, "`id` BETWEEN 1 AND 100000")


def test_null_is_kept_if_a_reader_needs_it():
    _, condition = part(lookup("a", null_safe=True), lookup("b"), a=(1, 100_000), b=(50, 60))
    assert condition == "(`id` BETWEEN 1 AND 100000 OR `id` IS NULL)"
    _, condition = part(lookup("a"), lookup("b", null_safe=True), a=(1, 100_000), b=(50, 60))
    assert "`id` BETWEEN 1 AND 100000" in condition
    assert "(`id` BETWEEN 50 AND 60 OR `id` IS NULL)" in condition


def test_other_numbers_and_columns_are_needed_beside():
    share, condition = part(lookup("a"), lookup("b"), a=(1, 100_000), b=(500_001, 600_000))
    assert share == 0.2
    assert condition == "`id` BETWEEN 1 AND 100000 OR `id` BETWEEN 500001 AND 600000"
    share, condition = part(lookup("a"), lookup("b", "other"), a=(1, 100_000), b=(1, 100_000))
    assert share == 0.2
    assert condition == "`id` BETWEEN 1 AND 100000 OR `other` BETWEEN 1 AND 100000"


def test_all_that_a_reader_knows_holds_at_once():
    both = InnerJoin(
        (lookup("a"), renamed(Changes("b", (("k2", "key"),)), (("k2", "k2"),))),
        (expression("f = k", f="f", k="k2"),),
    )
    share, condition = part(renamed(both, (("f", "f"),)), a=(1, 100_000), b=(50_001, 200_000))
    assert (share, condition) == (0.05, "`id` BETWEEN 50001 AND 100000")
    share, condition = part(renamed(both, (("f", "f"),)), a=(1, 100), b=(200, 300))
    assert (share, condition) == (0.0, "FALSE")


def test_a_slice_is_the_part_that_its_lookups_ask_for():
    facts = Scan("facts", (("f", "id"),))
    keys = renamed(Changes("a", (("k", "key"),)), (("k", "k"),))
    share, condition = part(Slice(facts, (Lookup(keys, (Pair("f", "k", False),)),)), a=(1, 100_000))
    assert (share, condition) == (0.1, "`id` BETWEEN 1 AND 100000")


def test_what_matches_a_part_is_one_too():
    """Facts matched with needed rows of another table."""
    rows, facts = Scan("rows", (("r", "key"),)), Scan("facts", (("f", "id"),))
    both = LeftJoin(rows, facts, JoinCondition((Pair("r", "f", False),)))
    keys = Keys.of(Changes("a", (("k", "key"),)), (("r", "k"),))
    share, condition = part(renamed(Restricted(both, keys), (("f", "f"),)), a=(1, 100_000))
    assert (share, condition) == (0.1, "`id` BETWEEN 1 AND 100000")


def test_changes_without_a_value_need_nothing():
    assert part(lookup("a"), a=None) == (0.0, "FALSE")


@pytest.mark.parametrize("spans", [{"a": (1, 600_000)}, {"b": (1, 10)}], ids=["too wide", "not known"])
def test_no_part_is_told_of_much_or_nothing(spans):
    changed = {ChangedColumn(table, "key"): Span(*found) for table, found in spans.items()}
    assert KeyRanges(changed, LARGE).parts(lookup("a")) == {}


@pytest.mark.parametrize(
    ("span", "share"),
    [
        ((1, 900), 0.9),  # a thousand parts; the changed ones may be anywhere
        ((1, 100), 0.1),
        ((7_000_001, 7_000_900), 0.0009),  # a thousand of many orders
    ],
)
def test_numbers_from_one_on_may_be_all_that_there_are(span, share):
    assert Span(*span).share(ROWS, 1000.0) == pytest.approx(share)
    assert Span(*span).share(ROWS) == pytest.approx(8 * (span[1] - span[0] + 1) / ROWS)


def test_without_known_ranges_the_plan_is_not_visited(monkeypatch):
    monkeypatch.setattr("sparkivm.plan.key_ranges.needs", None)
    assert KeyRanges().parts(lookup("a")) == {}
