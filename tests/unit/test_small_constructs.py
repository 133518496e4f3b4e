"""Constructs that random queries seldom contain: refreshed in random worlds and compared with the recomputation."""

from __future__ import annotations

import pytest

from tests.fuzz.case import TREES_PER_WORLD, Case, Fuzzer, shared_world
from tests.fuzz.database import WITH_NAMES_LIKE_OURS
from tests.reading import read

WORLDS = range(2)
HAVING = (
    "sum(a) in (select b from s)",
    "sum(a) not in (select b from s)",
    "sum(a) + 1 in (select b from s where s.k = r.k)",
    "(sum(a), count(*)) in (select b, a from s)",
    "not (sum(a) in (select b from s) or count(*) > 2)",
    "k + count(*) in (select b from s where s.k = r.k) or max(s) in (select s from t)",
    "count(distinct b) in (select a from s) and min(s) not in (select s from t)",
    "sum((select max(a) from s where s.k = r.a)) in (select b from s)",
    "sum(a) in (select sum(s.a) from s group by s.k having sum(s.b) in (select b from t))",
    "exists (select 1 from s where s.a = sum(r.a))",
    "not exists (select 1 from s where s.a = sum(r.a) and s.k = r.k)",
    "exists (select 1 from s where s.a < sum(r.a) + count(r.b)) or k > 1",
    "sum(r.a) > (select max(s.b) from s where s.a = count(r.b))",
)
QUERIES = (
    "select count(*) as n from r having sum(a) in (select b from s)",
    "select k, count(*) as n from r group by k order by sum(a) in (select b from s), k",
    "select upper(s) as u, count(*) as n from r group by upper(s) having upper(s) in (select s from s)",
    "select k, a, count(*) as n from r group by rollup (k, a) having k in (select b from s)",
    "select r.k, s.b from r left join s on r.k = s.k and r.a = r.b",
    "select r.k, s.b from r full join s on r.k = s.k and s.a = s.b",
    "select r.k from r left anti join s on r.a = r.b",
    "select k from r limit 0",
    "(select k from r) limit 0",
    "select s.k from s cross join (select count(*) as n from r)",
    "select k, (select max(b) from s where s.k = r.k and s.k = r.a) as x from r",
    "select x, count(*) as n from r join range(2, -2, -1) as t (x) on a = x group by x",
    "select k, (select max(a) from s limit 0) as x from r",
    "select count(*) as n from r where a not in (select b from s limit 0)",
    "select count(*) as n from r where exists (select 1 from s where s.k = r.k limit 0)",
    "select k, count(*) as n from r group by k limit 0",
    "select k, any_value(a) as x from r group by k",
    "select last(a) as x, last(s) as y from r",
    "select k, first(a) as x, last(a) as y from r group by k",
    "select k, first(s) as x, last(d) as y, first(b, true) as z, any_value(a) filter (where b > 0) as w from r group by k",
    "select k, first(a + b) as x, any_value(upper(s)) as y, min(a) as m, sum(b) as t from r group by k",
    "select k, any_value(f) as x, first(distinct a) as y from r group by rollup (k)",
    "select v, count(*) as n from (select k, any_value(s) as v, last(a) as w from r group by k) group by v",
    "select r.k, x.v from r join (select k, first(s) as v, first(a) as w from s group by k) as x on r.s = x.v and x.w > 0",
    "select k, sum(a) as n from r group by k having first(b) > 0 order by any_value(b), k",
    "select k, (select first(s.a) + last(s.b) from s where s.k = r.k) as y from r",
    "select * from (select k, a, d from r) pivot (first(d) for a in (1, 2 as two))",
    "select k, sum(any_value(a)) over () as x from r group by k",
    "select __ivm_of_source_w as w, __ivm_w as v, `__ivm_` as u from r",
    "select __ivm_w as w, count(*) as n, sum(__IVM_N) as m from r group by __ivm_w",
    "select r.k, s.__ivm_w as w from r left join s on r.__ivm_m1 = s.__ivm_m1 and r.__ivm_w > s.__ivm_n",
)


@pytest.fixture(scope="module")
def fuzzer() -> Fuzzer:
    return Fuzzer()


@pytest.mark.parametrize(
    "sql",
    [*(f"select k, count(*) as n from r group by k having {test}" for test in HAVING), *QUERIES],
)
def test_in_random_worlds(sql, fuzzer):
    cases = (Case(seed, sql, shared_world(seed * TREES_PER_WORLD)) for seed in WORLDS)
    assert [failure for failure in map(fuzzer.failure_of, cases) if failure] == []


@pytest.mark.parametrize(
    ("call", "synonym"),
    [("bool_and(a > 1)", "every(a > 1)"), ("bool_or(a > 1)", "some(a > 1)"), ("avg(a)", "mean(a)")],
)
def test_a_synonym_is_the_same_aggregate(call, synonym):
    one, other = (
        [node.label for node in read(f"select k, {name} as x from r group by k").root.walk()]
        for name in (call, synonym)
    )
    assert one == other


@pytest.mark.parametrize("sql", QUERIES)
def test_each_column_of_a_relation_has_a_name_of_its_own(sql):
    for node in read(sql, WITH_NAMES_LIKE_OURS).root.walk():
        assert len(set(node.columns)) == len(node.columns)
