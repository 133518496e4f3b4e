"""Names of the functions that a text calls, as it spells them."""

import pytest

from sparkivm.frontend.called_functions import called_functions


@pytest.mark.parametrize(
    ("sql", "names"),
    [
        ("select f(x), `G`(y) as a, \"h\" from t", {"f", "g"}),
        ("select shop.f(x), spark_catalog.shop.upper (y) from t", {".f", ".upper"}),
        ("select quantile(x), logical_or(y), json_format(z), week /* w */ (d) from t", {"quantile", "logical_or", "json_format", "week"}),
        ("select sum(x) over (partition by (y)) from t where a in (1) and (b or not (c)) group by cube (a)", {"sum"}),
        ("select cast(x as decimal(10, 2)), case when (a) then (b) end, 'f(x)' -- g(x)\nfrom t", set()),
        ("select * from range(3) r join tab(2) as q (a, b) on true", {"range", "tab", "q"}),
        ("with x (a) as (select 1) select a from x", {"x"}),
        ("select $", set()),
    ],
)  # fmt: skip
def test_calls(sql, names):
    assert called_functions(sql) == names
