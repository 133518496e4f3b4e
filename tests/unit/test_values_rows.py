"""Where the rows of VALUES begin and end in a text."""

from __future__ import annotations

import pytest

from sparkivm.frontend.values_rows import rows_of_values


@pytest.mark.parametrize(
    ("sql", "rows"),
    [
        ("select * from values (1, 'a'), (2, r'b\\') as t (k, v) join u on t.k = u.k", ["(1, 'a'), (2, r'b\\')"]),
        ("select * from (values (1), (-2)) t", ["(1), (-2)"]),
        ("with c as (values (array(1, 2)[0])) select * from c, values (3)", ["(array(1, 2)[0])", "(3)"]),
        ("select * from values 1, -2, 'a' 'b', x'0F', null t", ["1, -2, 'a' 'b', x'0F', null"]),
        ("select * from values date '2020-01-01', array(1) t (c)", ["date '2020-01-01', array(1)"]),
        ("select * from values 1, 2 where col1 > 1", ["1, 2"]),
        ("values (1)", ["(1)"]),
        ("select * from values 1L, 1.5BD, null::int, 7 % 2, 1 = 1, 'a' is null as t (c)", ["1L, 1.5BD, null::int, 7 % 2, 1 = 1, 'a' is null"]),
        ("select * from (values case when true then 1 else 2 end) as t (d)", ["case when true then 1 else 2 end"]),
        ("select * from (values 1L, left('ab', 1)) t left join u on true", ["1L, left('ab', 1)"]),
        ("select * from values 1L t order by 1", ["1L"]),
        ("select x as values from (values (1), (2)) as t (x)", ["(1), (2)"]),
        ("select u.values > 1, values > 2 from u, (values (1))", ["(1)"]),
        ("select values, max(values) from t", []),
        ("select values * 2 as twice from t", []),
        ("select case when true then u.values end as x from u", []),
        ("select a from t order by values", []),
        ("select 'values (1)' as c", []),
    ],
)  # fmt: skip
def test_rows_are_found_as_written(sql, rows):
    assert rows_of_values(sql) == rows
