"""A refresh reads only the part of a large table that can contain the changed keys."""

from __future__ import annotations

import pytest

from tests.refresh.lab import Lab, View

GB = 1 << 30
JOINED = "select o.id, o.note, i.price from orders o join items i on o.id = i.id"


@pytest.fixture
def lab() -> Lab:
    lab = Lab()
    lab.table("orders", "id int, note string", "(1, 'a')", "(5, 'b')", "(7, 'c')", "(9, 'd')")
    lab.table(
        "items", "id int, price int", "(1, 10)", "(5, 20)", "(5, 21)", "(7, 30)", "(9, 40)", "(null, 0)"
    )
    lab.resize("items", GB)
    return lab


@pytest.fixture
def view(lab: Lab) -> View:
    return lab.view("m", JOINED).build()


@pytest.mark.parametrize(
    ("write", "part"),
    [
        ("update orders set note = 'z' where id in (5, 7)", "BETWEEN 5 AND 7"),
        ("update orders set id = null where id = 5", "BETWEEN 5 AND 5"),
        ("insert into orders values (null, 'e'), (9, 'f')", "BETWEEN 9 AND 9"),
    ],
)
def test_the_part_that_changed_keys_are_in(lab, view, write, part):
    lab.run(write)
    assert part in "\n".join(view.must_be("incremental").statements)


def test_keys_that_are_all_null_meet_no_row(lab, view):
    lab.run("insert into orders values (null, 'e')")
    view.must_be("incremental")
