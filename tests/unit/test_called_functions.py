"""Names of the functions that a text calls, as it spells them."""

import re

import pytest

from sparkivm.frontend.called_functions import _SYNTAX, called_functions


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


# Each with a parenthesis behind words of the language, which are no functions.
SYNTAX = """
select (a) from (t) where (a) group by (a) having (b)
select distinct (a) from t join (t) on (b) join t using (k) limit (1) offset (1)
a in (1) and (b) or (c) and not (d)
a between (1) and (2)
select all (a) from t
case (a) when (1) then (2) else (3) end
over (partition by a)
within group (order by a)
with x as (select 1) values (1)
(a) union (b) except (c) intersect (d) minus (e)
join lateral (select 1)
group by grouping sets (a), rollup (a), cube (a)
pivot (x for (a, b) in (1)) unpivot (x for a in (b))
tablesample (5 rows)
a div (b)
cast (a as decimal (1, 0)), try_cast (a as dec (1, 0)), cast (a as numeric (1, 0))
cast (a as varchar (1)), cast (a as character (1))
extract (year from (a))
timestampadd (day, 1, a), timestampdiff (day, a, b)
"""


def test_words_of_the_language_are_no_functions():
    for text in SYNTAX.strip().splitlines():
        assert called_functions(text) == set(), text


def test_each_word_of_the_language_is_tried():
    words = set(re.findall(r"(\w+) \(", SYNTAX))
    assert words == _SYNTAX
