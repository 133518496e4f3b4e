"""A laboratory with two tables, and changes of every kind to them."""

from __future__ import annotations

from tests.refresh.lab import Lab


def two_tables() -> Lab:
    """With duplicates and NULL keys."""
    lab = Lab()
    lab.table(
        "t", "id int, k int, x int", "(1, 1, 1)", "(2, 1, 2)", "(3, 2, 4)", "(3, 2, 4)", "(4, null, null)"
    )
    lab.table("u", "k int, y int", "(1, 10)", "(1, 11)")
    return lab


def changes(lab: Lab) -> None:
    lab.run(
        "insert into t values (5, 2, 8), (6, 3, 1)",
        "delete from t where id = 1",
        "update t set x = 7 where id = 2",
        "insert into u values (2, 12)",
    )
