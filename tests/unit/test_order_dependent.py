"""Decisions that must not depend on values that vary with the order in which rows are read."""

from __future__ import annotations

import pytest

from sparkivm.algebra import Aggregate
from sparkivm.errors import NotIncremental
from sparkivm.normalize.pipeline import normalize
from sparkivm.plan.order_dependent import Decided, decided_by_order
from sparkivm.spark.data_types import spark_type
from tests.fuzz.database import Database
from tests.fuzz.random_data import World
from tests.fuzz.view import View
from tests.reading import read

SUMS = "(select k, sum(f) as v, max(a) as m from r group by k)"
DECIDED = {
    f"select v, count(*) as n from {SUMS} group by v": "SUM of DOUBLE",
    f"select s.b from s join {SUMS} as x on s.k = x.k where x.v > 0.5": "SUM of DOUBLE",
    f"select s.k from s join {SUMS} as x on s.f = x.v": "SUM of DOUBLE",
    f"select s.k from s left join {SUMS} as x on s.k = x.k and x.v > 1": "SUM of DOUBLE",
    f"select max(v) as most from {SUMS}": "SUM of DOUBLE",
    f"select bit_xor(cast(v as bigint)) as x from {SUMS}": "SUM of DOUBLE",
    f"select m, sum(cast(v as bigint)) as x from {SUMS} group by m": "SUM of DOUBLE",
    f"select m, avg(cast(v as int)) as x from {SUMS} group by m": "SUM of DOUBLE",
    f"select count_if(v > 1) as n from {SUMS}": "SUM of DOUBLE",
    f"select distinct v from {SUMS}": "SUM of DOUBLE",
    f"select f from s where f in (select v from {SUMS})": "SUM of DOUBLE",
    f"select s.b from s join (select k, rank() over (order by v) as r from {SUMS}) as x on s.k = x.k where r < 3": "SUM of DOUBLE",
    "select k from r where f > (select avg(f) from s)": "AVG of DOUBLE",
    "select k from r where f > (select avg(f) from s where s.k = r.k)": "AVG of DOUBLE",
    "select k from r where b > (select avg(b) from s)": "AVG of BIGINT",
    "select s.b from s join (select k, stddev(a) as v from r group by k) as x on s.k = x.k and v < 2": "STDDEV",
    f"select v, count(*) as n from (select v from {SUMS} union all select f from s) group by v": "SUM of DOUBLE",
    "select v + w as x, count(*) as n from (select k, sum(f) as v, avg(f) as w from r group by k) group by 1": "AVG of DOUBLE",
    f"select w, count(*) as n from (select avg(v) as w from {SUMS} group by m) group by w": "AVG of DOUBLE",
}
NUMBERED = (
    "(select k, a, sum(f) as v, row_number() over (partition by k order by {}) as p from r group by k, a)"
)
DECIDED |= {
    f"select count(distinct v) as n, sum(distinct v) as s from {SUMS}": "SUM of DOUBLE",
    f"select count(v * 2) as n from {SUMS}": "SUM of DOUBLE",
    f"select count(w) as n from (select nullif(v, 1) as w from {SUMS})": "SUM of DOUBLE",
    f"select s.b from s join (select k, v > 1 as w from {SUMS}) as x on s.k = x.k where x.w is true": "SUM of DOUBLE",
    f"select s.b from s left join (select k, 1 / v as w from {SUMS}) as x on s.k = x.k where x.w is null": "SUM of DOUBLE",
    f"select k, a from {NUMBERED.format('count(*), sum(f)')} where p = 1": "SUM of DOUBLE",
    f"select s.b, x.v from s join (select s.k, v, row_number() over (order by s.a) as p from {SUMS} join s using (k)) as x on s.k = x.k where p < 3": "SUM of DOUBLE",
    f"select b, v from (select s.b, v from {SUMS} join s using (k) order by b limit 2)": "SUM of DOUBLE",
}
BELOW_JOIN = "select s.k, {} as w from s join " + SUMS + " as x on s.k = x.k"
TIED = "select s.k, x.v from s join (select k, max_by(a, b) as v from r group by k) as x on s.k = x.k"
CHOICES = ("x.v >= 1.3", "case when x.v > 1 then 'gold' end", "round(x.v, 1)", "cast(x.v as decimal(9, 2))",
           "coalesce(x.v, 0) > 1", "nullif(x.v, 0.6)", "cast(x.v as int) + 1", "greatest(x.v, 0)", "x.v % 2")  # fmt: skip
DECIDED |= {
    **{BELOW_JOIN.format(choice): "SUM of DOUBLE" for choice in CHOICES},
    f"select m, sum(case when v > 1 then 1.0D else 0 end) as n from {SUMS} group by m": "SUM of DOUBLE",
    f"select s.b, sum(round(x.v, 1)) over (partition by s.k) as n from s join {SUMS} as x on s.k = x.k": "SUM of DOUBLE",
    "select k, (select sum(f) from s where s.k = r.k) >= 1.3 as w from r": "SUM of DOUBLE",
    TIED: "MAX_BY",
}
NOT_DECIDED = [
    *(BELOW_JOIN.format(w) for w in ("x.v + 1", "-x.v / 2", "coalesce(x.v, 0)", "cast(x.v as string)")),
    f"select k, v from {NUMBERED.format('count(*)')} where p = 1",
    f"select k, m, v from (select * from {SUMS} order by m limit 2)",
    f"select m, count(distinct v) as n from {SUMS} group by m",
    f"select k, v from {SUMS}",
    f"select s.k, x.v * 2 as w from s join {SUMS} as x on s.k = x.k",
    f"select m, sum(v) as s, avg(v) as a, count(v) as n from {SUMS} group by m",
    f"select k, v from {SUMS} where v is not null and m > 1",
    "select k, sum(f) as v from r group by k having sum(f) > 1",
    "select k from (select k, sum(d) as v, avg(d) as w, avg(a) as u from r group by k) where v > 1 and w > u",
    "select s.b from s join (select k, sum(d) as v, avg(d) as w from r group by k) as x on s.k = x.k where v > w",
    "select k, sum(f) over (partition by a) as v from r",
    "select k from r where a > (select max(a) from s)",
    # ties are broken by the key of the groups, under the names that it has above them
    "select l, b, v from (select *, row_number() over (partition by b order by m) as p from "
    "(select k as l, a as b, max(b) as m, sum(f) as v from r group by k, a)) where p = 1",
    "select f, a, v from (select *, row_number() over (partition by a order by a) as p from "
    "(select f, a, sum(f) over (partition by a) as v from (select f, a from r group by f, a))) where p = 1",
    "select k, a, v from (select *, row_number() over (partition by k order by m) as p from "
    "(select k, a, max(b) as m, sum(f) as v from r group by k, a having max(b) > 1)) where p = 1",
]


LISTS = {
    "collect_list(a)": "COLLECT_LIST",
    "listagg(s, ',')": "LISTAGG",
    "max_by(s, a)": "MAX_BY",
    "min_by(s, a)": "MIN_BY",
    "mode(s)": "MODE",
    "mode() within group (order by s)": None,
    "percentile_approx(a, 0.5)": "PERCENTILE_APPROX",
    "percentile(a, 0.5)": None,
    "listagg(s, ',') within group (order by s)": None,
    "listagg(distinct s, ',') within group (order by s desc)": None,
    "listagg(s, ',') within group (order by a)": "LISTAGG",
    "listagg(cast(a as string), ',') within group (order by b, a)": "LISTAGG",
    "array_contains(slice(collect_list(a), 1, 1), 5)": "COLLECT_LIST",
    "array_contains(collect_list(a), 5)": None,
    "max_by(a, b) is null": "MAX_BY",
    "max_by(a > 1, b) is true": "MAX_BY",
    "mode(a) is not null": "MODE",
    "collect_list(a) is null": None,
    "hll_sketch_estimate(hll_sketch_agg(a))": "HLL_SKETCH_AGG",
    "array_max(transform(histogram_numeric(a, 3), x -> x.y))": "HISTOGRAM_NUMERIC",
    "transform(collect_set(a), x -> x + 1)": "COLLECT_SET",
    "size(collect_set(a))": None,
    "sort_array(collect_list(a), false)": None,
    "array_sort(collect_list(a))": None,
    "array_sort(collect_list(a), (x, y) -> x % 2 - y % 2)": "COLLECT_LIST",
    "array_contains(collect_list(a), k)": None,
}


@pytest.fixture(scope="module")
def database() -> Database:
    database = Database()
    database.load(World({"r": [], "s": [], "t": []}, ()))
    return database


def decided(sql: str, database: Database) -> Decided | None:
    view = View(database, sql)
    return decided_by_order(view.plan.written, view._types_of)


@pytest.mark.parametrize("sql", DECIDED)
def test_what_has_to_be_stored(sql, database):
    found = decided(sql, database)
    assert found is not None
    assert found.by
    assert all(isinstance(node, Aggregate) for node in found.by)
    assert f"depends on {DECIDED[sql]}" in found.reason.detail


@pytest.mark.parametrize("sql", NOT_DECIDED)
def test_what_need_not(sql, database):
    assert decided(sql, database) is None


@pytest.mark.parametrize("value", LISTS)
def test_lists_of_any_order(value):
    query = read(f"select v, count(*) as n from (select k, {value} as v from r group by k) group by v")
    found = decided_by_order(normalize(query.root, query.root.columns), lambda _: ("array<int>",))
    what = LISTS[value]
    assert (found is None) if what is None else (found is not None and what in found.reason.detail)


def test_what_is_projected_from_a_list():
    inner = "(select k, slice(collect_list(a), 1, 1) as w from r group by k)"
    query = read(f"select array_contains(w, 5) as v, count(*) as n from {inner} group by 1")
    found = decided_by_order(normalize(query.root, query.root.columns), lambda _: ("array<int>",))
    assert found is not None


@pytest.mark.parametrize("type_", ["string", "double", "decimal(10,2)"])
@pytest.mark.parametrize("value", ["sum(s)", "try_avg(s)", "sum(distinct s)"])
def test_texts_are_added_up_in_double(value, type_):
    query = read(f"select v, count(*) as n from (select k, {value} as v from r group by k) group by v")
    types = lambda _: (spark_type(type_),)  # noqa: E731
    found = decided_by_order(normalize(query.root, query.root.columns), types)
    assert (found is not None) == (type_ != "decimal(10,2)")


@pytest.mark.parametrize("name", ["avg", "mean", "try_avg"])
def test_averages_of_bigint_over_windows(name):
    query = read(
        f"select v, count(*) as n from (select {name}(b) over (partition by k) as v from r) group by v"
    )
    core = normalize(query.root, query.root.columns)
    with pytest.raises(NotIncremental, match=rf"{name.upper()} of BIGINT OVER"):
        decided_by_order(core, lambda _: (spark_type("bigint"),))
    assert decided_by_order(core, lambda _: (spark_type("int"),)) is None


@pytest.mark.parametrize("name", ["sum", "try_sum"])
def test_sums_of_bigint_over_windows(name):
    """Spark adds these up as integers."""
    query = read(
        f"select v, count(*) as n from (select {name}(b) over (partition by k) as v from r) group by v"
    )
    core = normalize(query.root, query.root.columns)
    assert decided_by_order(core, lambda _: (spark_type("bigint"),)) is None


@pytest.mark.parametrize(
    ("value", "is_decided"), [("max_by(a, b)", True), ("mode(a)", True), ("max(a)", False)]
)
def test_counting_values_that_may_be_null(value, is_decided):
    query = read(f"select count(v) as n from (select k, {value} as v from r group by k)")
    found = decided_by_order(normalize(query.root, query.root.columns), lambda _: ("int",))
    assert (found is not None) == is_decided


@pytest.mark.parametrize(
    ("generator", "is_decided"),
    [
        ("explode(v)", False),
        ("posexplode(v)", False),
        ("stack(2, v, v)", False),
        ("explode(filter(v, x -> x > 5))", True),
        ("explode(sequence(1, element_at(v, 1)))", True),
    ],
)
def test_how_many_rows_a_list_makes(generator, is_decided):
    lists = "(select k, collect_list(a) as v from r group by k)"
    query = read(f"select k, count(*) as n from (select k, {generator} from {lists}) group by k")
    found = decided_by_order(normalize(query.root, query.root.columns), lambda _: ("array<int>",))
    assert (found is not None) == is_decided


def test_how_many_bins_a_histogram_has():
    """Unlike the length of a list, this may depend on the order of the rows."""
    histograms = "(select k, histogram_numeric(a, 3) as v from r group by k)"
    query = read(f"select k, count(*) as n from (select k, explode(v) from {histograms}) group by k")
    found = decided_by_order(normalize(query.root, query.root.columns), lambda _: ("array<int>",))
    assert found is not None


def test_a_sorted_list_of_such_values():
    """Sorting makes up for the order of the list, but not for its elements."""
    inner = "(select k, a, collect_list(b) as w from r group by k, a)"
    lists = f"(select k, array_max(collect_list(w)) as v from {inner} group by k)"
    query = read(f"select v, count(*) as n from {lists} group by v")
    found = decided_by_order(normalize(query.root, query.root.columns), lambda _: ("array<int>",))
    assert found is not None


def test_only_what_decides_has_to_be_stored(database):
    counts = "(select k, count(*) as n from r group by k)"
    sql = f"select s.b from s join {SUMS} as x on s.k = x.k join {counts} as y on s.k = y.k where x.v > 0.5 and y.n > 1"
    found = decided(sql, database)
    assert found is not None
    assert [len(node.calls) for node in found.by] == [1]
    assert found.by[0].calls[0].function.name == "sum"


def test_a_value_of_groups_and_windows_is_no_view(database):
    windows = f"(select k, v + sum(f) over (partition by a) as w from {SUMS} join s using (k))"
    with pytest.raises(NotIncremental, match=r"depends on the order of the rows"):
        decided(f"select k from {windows} where w > 1", database)


def test_window_functions_are_no_views(database):
    with pytest.raises(NotIncremental, match=r"SUM of DOUBLE OVER"):
        decided("select k from (select k, sum(f) over (partition by a) as v from r) where v > 1", database)


@pytest.mark.parametrize(
    ("shown", "is_decided"),
    [
        *((text, True) for text in ("x.v[0]", "element_at(x.v, 1)", "slice(x.v, 1, 1)", "x.v = array(1)")),
        *(
            (text, False)
            for text in ("x.v", "concat_ws(',', x.v)", "struct(x.v, 1)", "size(x.v) > 1", "x.v is null")
        ),
    ],
)
def test_lists_that_a_row_shows(shown, is_decided):
    """Another order is noticed, or shows nothing else; another element may not be noticed."""
    lists = "(select k, collect_list(a) as v from r group by k)"
    query = read(f"select s.k, {shown} as w from s join {lists} as x on s.k = x.k")
    found = decided_by_order(normalize(query.root, query.root.columns), lambda _: (spark_type("array<int>"),))
    assert (found is not None) == is_decided


@pytest.mark.parametrize(
    "shown",
    [
        "sum(f) over (partition by k) >= 1.3",
        "round(avg(f) over (partition by k), 1)",
        "max_by(a, b) over (partition by k)",
    ],
)
def test_a_window_function_whose_value_is_chosen(shown, database):
    """It cannot be an auxiliary view."""
    with pytest.raises(NotIncremental, match="depends on the order of the rows"):
        decided(f"select k, {shown} as w from r", database)
