"""Which names in a text are tables and which are CTEs."""

from __future__ import annotations

import pytest

from sparkivm.frontend.parse import parse_model
from sparkivm.frontend.table_references import table_references


@pytest.mark.parametrize(
    ("sql", "names"),
    [
        ("with C as (select 1 as x) select * from c", []),
        ("with a as (select * from a), b as (select * from A join c) select * from b, d.a, B", ["a", "c", "d.a"]),
        ("with a as (select * from b), b as (select * from a) select * from b", ["b"]),
        ("select * from (with x as (select 1) select * from x) as y, x", ["x"]),
        ("(with x as (select 1 as a) select * from X) union all select * from x", ["x"]),
        ("with x as (select 1 as a) select * from t where a in (select a from X)", ["t"]),
        ("with recursive r as (select 1 as n union all select n + 1 from R) select * from r", []),
        ("with Tt as (select 1 as a) select * from (with tT as (select * from tt) select * from TT)", []),
    ],
)  # fmt: skip
def test_names_of_ctes_are_no_tables(sql, names):
    found = table_references(parse_model("m", sql))
    assert [".".join(reference.parts) for reference in found] == names
