"""Updates of columns that a view does not read cost no join."""

from __future__ import annotations

import pytest

from sparkivm.refresh import silent_changes
from tests.spark.lab import Lab

pytestmark = [pytest.mark.spark, pytest.mark.slow]


def test_a_source_of_which_nothing_is_left_is_not_joined(spark, monkeypatch):
    monkeypatch.setattr(silent_changes, "_WORTH_ASKING_BYTES", 0)
    lab = Lab(spark, "silent_changes")
    lab.table("orders", "id int, customer int, note string", "(1, 1, 'a')", "(2, 2, 'b')")
    lab.table("customers", "id int, name string, balance int", "(1, 'Ada', 5)", "(2, 'Bob', 6)")
    view = lab.view("m", "select o.id, c.name from orders o join customers c on o.customer = c.id").build()
    lab.run("update customers set balance = balance + 1 where id = 1")
    view.must_be("no_op")
    lab.run("insert into orders values (3, 1, 'c')", "update orders set note = 'z' where id = 1")
    result = view.must_be("incremental")
    assert "customers" in result.statements[0], "asked"
    assert "changes_2" not in result.statements[-1], "one changed source"
    lab.run("update customers set name = 'Cyd' where id = 2")
    view.must_be("incremental")
    lab.run("insert into customers values (3, 'Eve', 1)", "update customers set balance = 0 where id = 1")
    result = view.must_be("incremental")
    assert "as source" not in result.statements[0], "it has a row more, so it is not asked"
