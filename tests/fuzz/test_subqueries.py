"""Subqueries in conditions and items that depend on NULLs and row counts: each shape in its own worlds."""

from __future__ import annotations

import random

import duckdb
import pytest

from sparkivm.frontend.correlation import free_columns
from tests.fuzz.case import Case, Fuzzer, reproducer
from tests.fuzz.database import Database
from tests.fuzz.random_data import World
from tests.fuzz.view import View
from tests.laws.small_tables import world
from tests.reading import read

# The old rows of r and s, and their changes. Columns: k, a, b.
_R = [(1, 1), (2, None), (None, 1), (3, 3), (3, 3)]
WORLDS = {
    "no values": world({"r": _R}, {}, {"t": [(1, 1)]}),
    "the first NULL comes": world({"r": _R, "s": [(1, 1)]}, {}, {"s": [(1, None)]}),
    "the last NULL goes": world({"r": _R, "s": [(1, 1), (1, None)]}, {"s": [(1, None)]}, {}),
    "one of two NULLs goes": world({"r": _R, "s": [(1, None), (1, None)]}, {"s": [(1, None)]}, {}),
    "the first value comes": world({"r": _R}, {}, {"s": [(1, 2)]}),
    "the last value goes": world({"r": _R, "s": [(1, 2)]}, {"s": [(1, 2)]}, {}),
    "a NULL among the operands comes": world({"r": _R[:1], "s": [(1, 2)]}, {}, {"r": [(1, None)]}),
    "an operand of no key comes": world(
        {"r": _R[:1], "s": [(None, 1)]}, {}, {"r": [(None, 1)], "s": [(2, 3)]}
    ),
    "a value becomes NULL": world({"r": _R, "s": [(1, 3), (3, 1)]}, {"s": [(3, 1)]}, {"s": [(3, None)]}),
    "both sides change": world(
        {"r": _R, "s": [(3, 3)]}, {"r": [(3, 3)], "s": [(3, 3)]}, {"r": [(1, None)], "s": [(1, 4)]}
    ),
    "duplicates beside a third table": world(
        {"r": _R, "s": [(3, 3), (3, 3), (3, 1), (1, 1)], "t": [(3, 0), (1, 0)]},
        {"s": [(3, 3)]},
        {"s": [(1, 3), (1, None)], "t": [(3, 0)]},
    ),
}
_IN = {
    "in": "select k, a from r where a in (select s.a from s)",
    "not in": "select k, a from r where a not in (select s.a from s)",
    "not of in": "select k, a from r where not (a in (select s.a from s))",
    "correlated in": "select k, a from r where a in (select s.a from s where s.k = r.k)",
    "correlated not in": "select k, a from r where a not in (select s.a from s where s.k = r.k)",
    "null-safely correlated not in": "select k, a from r where a not in (select s.a from s where s.k <=> r.k)",
    "unequally correlated not in": "select k, a from r where a not in (select s.a from s where s.k < r.k)",
    "in or": "select k, a from r where a in (select s.a from s) or k = 3",
    "not in or": "select k, a from r where a not in (select s.a from s) or k = 3",
    "correlated not in or": "select k, a from r where a not in (select s.a from s where s.k = r.k) or k = 3",
    "in = false or": "select k, a from r where (a in (select s.a from s)) = false or k = 3",
    "in as a value": "select k, coalesce(a in (select s.a from s), false) as x from r",
    "in of an expression": "select k, a from r where a + 1 not in (select s.a from s)",
    "in of groups": "select k, a from r where a not in (select max(s.a) from s group by s.k)",
    "in of two conditions": "select k, a from r where a not in (select s.a from s) and k in (select s.k from s)",
    "in of two values": "select k, a from r where (k, a) in (select s.k, s.a from s)",
    "in of two values, one computed": "select k, a from r where (k, a) in (select s.k, s.a + 0 from s) or k = 2",
    "in of having": "select k, max(a) as x from r group by k having k not in (select s.a from s)",
}
_OTHERS = {
    "exists": "select k, a from r where exists (select 1 from s where s.a = r.a)",
    "not exists": "select k, a from r where not exists (select 1 from s where s.a = r.a)",
    "exists of groups": "select k, a from r where exists (select 1 from (select s.k from s group by s.k) as x where x.k = r.k)",
    "not exists of groups": "select k, a from r where not exists (select 1 from (select s.k from s group by s.k) as x where x.k = r.k)",
    "not exists of any": "select k, a from r where not exists (select 1 from s)",
    "exists or": "select k, a from r where exists (select 1 from s where s.a = r.a) or k = 3",
    "exists as a value": "select k, exists (select 1 from s where s.k = r.k) as x from r",
    "exists less": "select k, a from r where exists (select 1 from s where s.a < r.a and s.k = r.k)",
    "a count": "select k, (select count(*) from s where s.k = r.k) as n from r",
    "a count by a formula": "select k, (select count(*) from s where s.k + 1 = r.k) as n from r",
    "a count by one column for two": "select k, (select count(*) from s where s.k = r.k and s.k = r.a) as n from r",
    "a count of values": "select k, (select count(s.a) from s where s.k <=> r.k) as n from r",
    "a sum": "select k, (select sum(s.a) from s where s.k = r.k) as n from r",
    "an expression over groups": "select k, (select coalesce(max(s.a), 7) + count(*) from s where s.k = r.k) as n from r",
    "having": "select k, (select count(*) from s where s.k = r.k having count(*) > 0) as n from r",
    "having of an outer column": "select k, a from r where exists (select 1 from s group by s.k having max(s.a) < r.a)",
    "having of all": "select k, (select count(*) from s having count(*) <> 1) as n from r",
    "a comparison": "select k, a from r where a > (select min(s.a) from s where s.k = r.k)",
    "exists of a join": "select k, a from r where exists (select 1 from (select a from s where s.k = r.k) as x join s as y on x.a = y.a)",
    "a count of a join": "select k, (select count(*) from (select a from s where s.k = r.k) as x, (select b from s where s.k = r.k) as y) as n from r",
    "a null-safe count of a join": "select k, (select count(*) from (select a from s where s.k <=> r.k) as x, (select b from s where s.k <=> r.k) as y) as n from r",
    "a count of a left join": "select k, (select count(x.a) from s as y left join (select s.a from s where s.k = r.k) as x on x.a = y.a) as n from r",
    "a comparison above a null-safe one": "select k, (select count(*) from (select s.a from s where s.k <=> r.k) as x where x.a < r.a + 1) as n from r",
    "a count of in": "select k, (select count(*) from s where s.k = r.k and s.a in (select x.k from s as x)) as n from r",
    "rows made of an outer column": "select k, (select count(*) from s lateral view explode(array(s.a, r.a)) x as x where s.k = r.k and x > 1) as n from r",
    "a count of intersect all": "select k, (select count(x) from (select s.a as x from s where s.k = r.k intersect all select u.k from t as u)) as n from r",
    "a sum of except all": "select k, (select sum(x) from (select s.a as x from s where s.k = r.k except all select u.k from t as u)) as n from r",
    "copies left by except all": "select k, (select count(x) from (select y.a as x from r as y where y.k = r.k except all select u.k from t as u)) as n from r",
    "exists of intersect all": "select k, a from r where exists (select s.a from s where s.k = r.k intersect all select u.k from t as u)",
    "a condition": "select k, a from r where (select max(s.a) > 1 from s)",
    "an outer column beside no row": "select r.k, l.x from r left join lateral (select r.a as x from s where s.k = r.k) as l on true",
    "an outer column in it": "select k, (select max(s.a + r.a) from s where s.k = r.k) as n from r",
}
MODELS = _IN | _OTHERS


@pytest.fixture(scope="module")
def fuzzer() -> Fuzzer:
    return Fuzzer()


@pytest.mark.parametrize("name", MODELS)
def test_a_view_with_a_subquery(name, fuzzer):
    for label, content in WORLDS.items():
        case = Case(len(label), MODELS[name], content)
        failure = fuzzer.failure_of(case)
        assert failure is None, f"{label}\n{reproducer(case, failure)}"


@pytest.mark.parametrize("name", MODELS)
def test_no_relation_has_two_columns_of_one_name(name):
    """In Spark the name would be ambiguous."""
    for node in read(MODELS[name]).root.walk():
        assert len(set(node.columns)) == len(node.columns), node.label


@pytest.mark.parametrize("name", MODELS)
def test_no_column_of_an_outer_query_is_left(name):
    assert not free_columns(read(MODELS[name]).root)


SINGLE = {
    "alone": "select k, (select s.a from s) as x from r",
    "correlated": "select k, (select s.a from s where s.k = r.k) as x from r",
    "null-safely correlated": "select k, (select s.a from s where s.k <=> r.k) as x from r",
    "unequally correlated": "select k, (select s.a from s where s.k < r.k + 1) as x from r",
    "in a condition": "select k from r where a = (select s.a from s where s.k = r.k)",
}


def view_of(name: str, content: World) -> View:
    database = Database()
    database.load(content)
    return View(database, SINGLE[name])


@pytest.mark.parametrize("name", SINGLE)
@pytest.mark.parametrize("second", [(1, 5), (1, 1), (1, None)])
def test_two_rows_of_a_scalar_subquery_are_an_error(name, second):
    view = view_of(name, world({"r": [(1, 1)], "s": [(1, 1), second]}, {}, {}))
    with pytest.raises(duckdb.Error, match="more than one row"):
        view.build()


@pytest.mark.parametrize("name", SINGLE)
def test_a_second_row_that_comes_is_an_error(name):
    content = world({"r": [(1, 1)], "s": [(1, 1)]}, {}, {"s": [(1, 2)]})
    view = view_of(name, content)
    view.build()
    assert view.difference(0) is None
    with pytest.raises(duckdb.Error, match="more than one row"):
        view.refresh(random.Random(0), 1, content.batches[0])


@pytest.mark.parametrize(
    "sql",
    [
        "select k, count(*) as n from r where (select s.a from s where s.k = r.k) > 0 group by k",
        "select k from r where (select s.a from s where s.k = r.k) > 0",
        "select k from r group by k having (select s.a from s where s.k = r.k) > 0",
    ],
)
def test_two_rows_for_no_outer_row_are_no_error(sql):
    """An optimizer may test a condition before the join if it reads only the subquery's columns."""
    database = Database()
    content = world(
        {"r": [(1, 1)], "s": [(1, 1), (9, 1), (9, 2)]}, {}, {"r": [(2, 2)], "s": [(2, 5), (8, 1), (8, 2)]}
    )
    database.load(content)
    view = View(database, sql)
    view.build()
    assert view.difference(0) is None
    view.refresh(random.Random(0), 1, content.batches[0])
    assert view.difference(1) is None


@pytest.mark.parametrize("name", SINGLE)
def test_one_row_or_none_is_a_value(name):
    content = world({"r": [(1, 1), (2, 2)], "s": [(1, 1)]}, {"s": [(1, 1)]}, {"r": [(1, None)]})
    view = view_of(name, content)
    view.build()
    assert view.difference(0) is None
    view.refresh(random.Random(0), 1, content.batches[0])
    assert view.difference(1) is None
