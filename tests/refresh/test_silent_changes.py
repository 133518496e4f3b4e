"""Updates of columns that a view does not read: checked before the expensive reads, and only where needed."""

from __future__ import annotations

import pytest

from sparkivm.reasons import Reason
from sparkivm.refresh.sources.pins import Pins
from tests.refresh.lab import Lab, View

NAMES = "select o.id, c.name from orders o join customers c on o.customer = c.id"
LARGE = 20 << 20


@pytest.fixture
def lab() -> Lab:
    lab = Lab()
    lab.table("orders", "id int, customer int, note string", "(1, 1, 'a')", "(2, 2, 'b')")
    lab.table("customers", "id int, name string, balance int", "(1, 'Ada', 5)", "(2, 'Bob', 6)")
    for name in ("orders", "customers"):
        lab.resize(name, LARGE)
    return lab


@pytest.fixture
def view(lab: Lab) -> View:
    return lab.view("m", NAMES).build()


def asked(lab: Lab) -> list[str]:
    """The queries about changes since the last call."""
    found = [text for text in lab.engine.asked if "as weight" in text or "limit 1" in text]
    lab.engine.asked.clear()
    return found


def test_an_update_of_another_column_changes_nothing(lab, view):
    lab.run("update customers set balance = balance + 1 where id = 1")
    view.must_be("no_op")
    assert len(asked(lab)) == 1


def test_the_other_sources_are_still_applied(lab, view):
    lab.run("update customers set balance = 0", "insert into orders values (3, 1, 'c')")
    result = view.must_be("incremental")
    assert "table_changes('`shop`.`customers`'" not in "\n".join(result.statements[-2:])


def test_an_update_of_a_column_that_is_read(lab, view):
    lab.run("update customers set name = 'Cyd', balance = 0 where id = 2")
    view.must_be("incremental")
    assert len(asked(lab)) == 1


@pytest.mark.parametrize(
    "writes",
    [
        ("update customers set name = 'X' where id = 1", "update customers set name = 'Ada' where id = 1"),
        (
            "update orders set note = 'z'",
            "delete from orders where id = 1",
            "insert into orders values (1, 1, 'other')",
        ),
    ],
    ids=["back and forth", "deleted and inserted again"],
)
def test_changes_that_cancel(lab, view, writes):
    lab.run(*writes)
    view.must_be("no_op")


@pytest.mark.parametrize(
    "writes",
    [
        (
            "delete from orders where id = 1",
            "insert into orders values (2, 2, 'z')",
        ),  # as many rows, but other rows
        ("update orders set customer = 2 where id = 1", "update orders set customer = 1 where id = 2"),
        ("update customers set name = 'Bob' where id = 1", "update customers set name = 'Ada' where id = 2"),
        ("delete from orders where id = 1", "insert into orders values (1, null, 'a')"),
        ("update customers set name = null where id = 1",),
        ("update customers set name = 'null' where id = 1",),
        ("update customers set name = '' where id = 1",),
    ],
)
def test_changes_that_only_look_as_if_they_cancelled(lab, view, writes):
    lab.run(*writes)
    view.must_be("incremental")


def test_one_of_several_equal_rows(lab):
    lab.run("insert into orders values (1, 1, 'a')")
    view = lab.view("copies", "select customer, note from orders").build()
    lab.run("delete from orders where id = 1", "insert into orders values (1, 1, 'a')")
    view.must_be("incremental")


def test_a_column_that_only_spark_compares(lab):
    """An array has no text, so the fetched rows do not have it."""
    lab.table("carts", "id int, items array<int>, note string", "(1, array(1, 2), 'a')", "(2, null, 'b')")
    lab.resize("carts", LARGE)
    view = lab.view("filled", "select id, items from carts").build()
    lab.run("update carts set note = 'z'")
    view.must_be("no_op")
    lab.run("update carts set items = array(2, 1) where id = 1")
    view.must_be("incremental")


def test_equal_rows_of_one_of_two_sources(lab):
    """One question reads the changes of both. Without duplicates, those of tags would cancel."""
    lab.table("tags", "name string", "('x'), ('y'), ('y')")
    lab.resize("tags", LARGE)
    view = lab.view("tagged", "select o.id, t.name from orders o cross join tags t").build()
    lab.run(
        "update orders set note = 'z'",
        "update tags set name = case name when 'x' then 'y' else 'x' end",
    )
    view.must_be("incremental")
    view.check()


@pytest.mark.parametrize(
    "write", ["insert into customers values (3, 'Eve', 1)", "delete from customers where id = 2"]
)
def test_a_source_with_a_row_more_or_less_is_not_asked(lab, view, write):
    """Such changes cannot cancel out completely."""
    lab.run(write, "update customers set balance = 0 where id = 1")
    view.must_be("incremental")
    assert not asked(lab)


def test_small_sources_are_not_asked(lab, view):
    for name in ("orders", "customers"):
        lab.resize(name, 1000)
    lab.run("update customers set balance = 0")
    view.must_be("incremental")
    assert not asked(lab)


def test_an_overwrite_that_changes_no_column_that_is_read_is_silent(lab, view):
    lab.run("insert overwrite customers select id, name, balance + 1 from customers")
    view.must_be("no_op")
    lab.run("insert overwrite customers select id, 'Zoe', balance from customers")
    view.must_be("incremental")


def test_a_silent_source_costs_nothing(lab):
    """The cost of its changes does not count when we compare with a rebuild."""
    for name, mib in (("orders", 60), ("customers", 60), ("m__ivm", 2)):
        lab.resize(name, mib << 20)
    view = lab.view("m", NAMES, refresh_mode="auto").build()
    lab.run("update customers set balance = 0 where id = 1", "insert into orders values (3, 1, 'c')")
    assert view.must_be("incremental").apply_form == "append"
    lab.run("update customers set name = 'Cyd' where id = 1", "insert into orders values (4, 1, 'd')")
    view.must_be("full", Reason.CHEAPER_IN_FULL)


def test_where_all_sources_may_be_silent_they_are_asked_first(lab):
    for name, mib in (("customers", 60), ("m__ivm", 2)):
        lab.resize(name, mib << 20)
    sql = "select name, max(id) as last from customers group by name"
    view = lab.view("m", sql, refresh_mode="auto").build()
    lab.run("update customers set balance = 0 where id = 1")
    view.must_be("no_op")
    lab.run("update customers set name = 'Cyd' where id = 1")
    view.must_be("full", Reason.CHEAPER_IN_FULL)


def test_a_run_asks_once_for_all_its_views(lab, view):
    other = lab.view("m2", NAMES).build()
    lab.run("update customers set balance = 0")
    pins = Pins()
    assert [view.refresh(pins).mode, other.refresh(pins).mode] == ["no_op", "no_op"]
    assert len(asked(lab)) == 1


# tables that are replaced as a whole, as dbt replaces those of `table` models


def replaced(lab: Lab, name: str, select: str) -> None:
    lab.run(f"create or replace table {name} using delta as {select}")


def test_a_table_that_is_replaced_by_the_same_rows_changes_nothing(lab, view):
    replaced(lab, "customers", "select * from customers")
    result = view.must_be("no_op")
    assert result.explanation == "no row of a source changed"
    assert len(lab.delta("m__ivm").history) == 1


def test_small_tables_are_asked_too(lab):
    for name in ("orders", "customers"):
        lab.resize(name, 1000)
    view = lab.view("m", NAMES).build()
    replaced(lab, "customers", "select * from customers")
    view.must_be("no_op")


def test_only_the_columns_that_are_read_count(lab, view):
    replaced(lab, "customers", "select id, name, balance + 1 as balance, 'new' as extra from customers")
    view.must_be("no_op")


@pytest.mark.parametrize(
    "select",
    ["select id, upper(name) as name, balance from customers", "select * from customers where id = 1"],
)
def test_a_table_that_is_replaced_by_others(lab, view, select):
    replaced(lab, "customers", select)
    view.must_be("incremental")
    view.must_be("no_op")


def test_a_few_rows_of_a_large_table_that_is_replaced_are_no_large_change(lab):
    """The commit reports all rows as changed."""
    view = lab.view("m", "select id, name from customers", refresh_mode="auto").build()
    replaced(lab, "customers", "select id, if(id = 2, 'Bo', name) as name, balance from customers")
    lab.says_many("customers", 500_000)
    result = view.must_be("incremental")
    assert result.explanation.startswith("2 changed rows")


def test_changes_that_are_not_kept_in_memory_are_not_counted(lab, view):
    replaced(lab, "customers", "select * from customers")
    lab.says_many("customers", 5_000_000)
    view.must_be("incremental")


def test_a_run_compares_a_replaced_table_once(lab, view):
    other = lab.view("other", "select name, max(id) as last from customers group by name").build()
    replaced(lab, "customers", "select id, upper(name) as name, balance from customers")
    pins = Pins()
    statements = [text for one in (view, other) for text in one.refresh(pins).statements]
    assert sum("`customers` version as of 1" in text for text in statements) == 1
    pins.memory.drop(lab.engine)
