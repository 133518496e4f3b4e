"""A refresh reads only the part of a large table that can contain the changed keys."""

from __future__ import annotations

import re

import pytest

from sparkivm.refresh.sources.pins import Pins
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


@pytest.mark.parametrize("first", ["note", "status"])
def test_each_view_looks_up_the_keys_of_its_own_columns(lab, first):
    """Changes of a table that was replaced are the difference in the columns that a view reads."""
    lab.table("dim", "id int, note string, status string", "(1, 'a', 's')", "(5, 'b', 's')", "(9, 'c', 's')")
    views = {
        column: lab.view(column, f"select i.price, d.{column} from items i join dim d on i.id = d.id").build()
        for column in ("note", "status")
    }
    lab.run(
        "create or replace table dim using delta as "
        "select id, if(id = 1, 'z', note) as note, if(id = 9, 'z', status) as status from dim"
    )
    pins = Pins()
    parts = []
    for column in (first, *(views.keys() - {first})):
        statements = views[column].must_be("incremental", pins=pins).statements
        parts.append(re.findall("BETWEEN . AND .", "\n".join(statements)))
    assert all(parts)
    assert parts[0] != parts[1]
