"""The order of joins, where a wrong order multiplies tables that share only a few values."""

from __future__ import annotations

import pytest

from sparkivm.algebra import Changes, InnerJoin, Scan, UnionAll
from sparkivm.algebra.project import renamed
from sparkivm.algebra.scalar import equal
from sparkivm.algebra.scan import At
from sparkivm.plan.distinct_values import distinct_values
from sparkivm.plan.join_order import Sizes, order_joins

COLUMNS = {
    "nation": ("n_nation",),
    "supplier": ("s_supplier", "s_nation"),
    "customer": ("c_customer", "c_nation"),
    "orders": ("o_order", "o_customer"),
    "lines": ("l_order", "l_supplier"),
}
ROWS = {"nation": 25.0, "supplier": 1e4, "customer": 1.5e5, "orders": 1.5e6, "lines": 6e6}
PREDICATES = (
    equal("c_customer", "o_customer"),
    equal("l_order", "o_order"),
    equal("l_supplier", "s_supplier"),
    equal("c_nation", "s_nation"),
)


def scan(table, kind=Scan):
    fields = tuple((name, name) for name in COLUMNS[table])
    return Changes(table, fields) if kind is Changes else Scan(table, fields, At.NEW)


def volume(changed):
    """Lines of suppliers in their customer's nation; nations are joined to the result of the other joins."""
    tables = ("supplier", "customer", "orders", "lines")
    inputs = tuple(scan(table, Changes if table == changed else Scan) for table in tables)
    inner = InnerJoin(inputs, PREDICATES)
    return InnerJoin((inner, scan("nation")), (equal("s_nation", "n_nation"),))


def test_equal_columns_have_the_values_of_the_smallest_table():
    values = distinct_values(volume("lines"), ROWS)
    assert values["c_nation"] == values["s_nation"] == 25
    assert values["o_customer"] == 1.5e5
    assert values["l_supplier"] == 1e4


def test_a_column_has_as_many_values_under_another_name():
    suppliers = renamed(scan("lines"), (("supplier", "l_supplier"),))
    values = distinct_values(
        InnerJoin((suppliers, scan("supplier")), (equal("supplier", "s_supplier"),)), ROWS
    )
    assert values["l_supplier"] == values["supplier"] == 1e4


def test_a_name_of_several_columns_tells_nothing_of_them():
    lines, orders = (
        renamed(scan("lines"), (("a", "l_order"),)),
        renamed(scan("orders"), (("a", "o_customer"),)),
    )
    union = UnionAll((lines, orders))
    values = distinct_values(InnerJoin((union, scan("supplier")), (equal("a", "s_supplier"),)), ROWS)
    assert values == {"a": 1e4, "s_supplier": 1e4}


@pytest.mark.parametrize(
    ("inputs", "on", "sent"),
    [
        (("supplier", "nation"), ("s_nation", "n_nation"), "nation"),
        (("lines", "orders"), ("l_order", "o_order"), "lines"),
    ],
)
def test_a_small_table_is_sent_rather_than_the_changes_that_meet_it(inputs, on, sent):
    changed, table = inputs
    join = InnerJoin((scan(changed, Changes), scan(table)), (equal(*on),))
    found = order_joins(join, Sizes(ROWS, {changed: 1000.0}))
    assert isinstance(found, InnerJoin)
    assert found.inputs[found.broadcast].table == sent


@pytest.mark.parametrize(
    ("changed", "order"),
    [
        ("lines", "lines supplier orders customer"),
        ("orders", "orders customer lines supplier"),
        ("customer", "customer orders lines supplier"),
        ("supplier", "supplier lines orders customer"),
    ],
)
def test_tables_do_not_meet_in_the_nation(changed, order):
    found = order_joins(volume(changed), Sizes(ROWS, {changed: 1000.0}))
    tables = [node.table for node in found.walk() if isinstance(node, (Scan, Changes))]
    assert [table for table in tables if table != "nation"] == order.split()
