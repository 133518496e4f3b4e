"""A refresh reads a large table in the range of the changed keys, if that is a small part of the table."""

from __future__ import annotations

import pytest

from sparkivm.refresh.changed_rows import key_ranges
from tests.spark.lab import Lab, View
from tests.spark.saved_tables import SavedTables

pytestmark = [pytest.mark.spark, pytest.mark.slow]

LINES = "select o.id, o.day, l.item from orders o join lines l on o.id = l.order_id"
TOTALS = "select o.day, sum(l.price) as total, max(l.item) as item from orders o left join lines l on o.id = l.order_id group by o.day"


@pytest.fixture(scope="module")
def saved(spark, tmp_path_factory) -> SavedTables:
    made = Lab(spark, "key_ranges")
    made.table("orders", "id int, day int")
    made.table("lines", "order_id bigint, item string, price int")
    made.run(
        "insert into orders select id, id div 50 from range(1000) union all values (null, 3), (-7, null)",
        "insert into lines select id div 2, concat('i', id % 7), id % 11 from range(2000)",
        "insert into lines values (null, 'x', 1), (-7, 'y', null), (990, null, 5)",
    )
    made.view("m", LINES).build()
    return SavedTables(made, tmp_path_factory.mktemp("key_ranges"))


@pytest.fixture
def lab(spark, saved, monkeypatch) -> Lab:
    monkeypatch.setattr(key_ranges, "_WORTH_ASKING_BYTES", 0)
    lab = Lab(spark, "key_ranges")
    saved.put_into(lab)
    return lab


@pytest.fixture
def view(lab) -> View:
    """A built view of LINES."""
    return lab.view("m", LINES)


@pytest.mark.parametrize("query", [LINES, TOTALS])
def test_recent_changes_read_recent_rows(lab, view, query):
    """If changes were netted by the key alone, the update of line 995 would disappear."""
    if query == TOTALS:
        view = lab.view("totals", query).build()
    lab.run(
        "insert into orders values (1000, 20), (1001, null)",
        "insert into lines values (1000, 'a', 4), (999, 'b', null)",
        "update lines set price = price + 1 where order_id = 995",
        "delete from orders where id = 998",
    )
    result = view.must_be("incremental")
    assert any("`id` BETWEEN 995 AND 1000" in text for text in result.statements), "orders of changed lines"
    assert not view.state_differences()
    lab.run("delete from lines where order_id > 997", "update orders set day = null where id = 999")
    view.must_be("incremental")


def test_changes_everywhere_read_everything(lab, view):
    lab.run("update orders set day = day + 1 where id in (3, 990)", "insert into lines values (500, 'n', 1)")
    assert "between 3 and" not in view.must_be("incremental").statements[-1].lower()


def test_keys_without_a_value_find_nothing(lab, view):
    lab.run("insert into orders values (null, 1)", "insert into lines values (null, 'z', 1)")
    view.must_be("incremental")
    lab.run("delete from orders where id is null", "insert into lines values (1, 'z', 1)")
    view.must_be("incremental")
