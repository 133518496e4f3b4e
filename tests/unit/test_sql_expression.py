"""Expressions that rules write as SQL, with placeholder names that are replaced."""

from __future__ import annotations

import pytest

from sparkivm.algebra.sql_expression import expression


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("x + y", "`a b` + (`c` IN (1, 2))"),
        ("count(distinct x)", "COUNT(DISTINCT `a b`)"),
        ("x + z", "`a b` + z"),  # as the variable of a lambda
    ],
)
def test_what_a_name_stands_for(text, printed):
    found = expression(text, x="a b", y=expression("c in (1, 2)", c="c"))
    assert found.sql("spark") == printed
