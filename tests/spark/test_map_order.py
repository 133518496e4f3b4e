"""Expressions that depend on the order of a map's entries, in views whose sources change."""

from __future__ import annotations

import pytest

from sparkivm.reasons import Reason
from tests.spark import rounds
from tests.spark.lab import Lab, View, side_by_side
from tests.spark.state_sizes import SIZES, take_states_for

pytestmark = pytest.mark.spark

VIEWS = {
    "shown": "select id, m, n from t",
    "first_keys": "select get(map_keys(m), 0) as k, count(*) as c, sum(id) as s from t group by get(map_keys(m), 0)",
    "filtered": "select id, to_json(m) as j from t where get(map_keys(m), 0) = 'b'",
    "greatest": "select g, max(to_json(m)) as j, max(cast(n as string)) as n, count(*) as c from t group by g",
    "positions": "select id, pos, key, value from t lateral view posexplode(m) as pos, key, value",
    # Without NULL values: where Spark 4.1 groups by a MAP, its generated code reads them as 0.
    "maps": "select m, count(*) as c from t where not coalesce(exists(map_values(m), v -> v is null), false) group by m",
    "of_both": "select t.id, t.m, u.m as other from t join u on t.id = u.id",
    "joined": "select t.id, to_json(t.m) as j, u.m as other from t left join u on t.id = u.id",
    "computed": """
        select k, min(cast(x as string)) as low from (
          select get(map_keys(x), 0) as k, x from (select map_concat(m, map('z', id)) as x from t) as c
        ) as d group by k""",
    "of_groups": """
        select w, max(get(map_values(lists), 0)) as v from (
          select g, map('n', count(*), 'a', sum(id)) as lists, get(map_keys(max_by(m, id)), 0) as w from t group by g
        ) as g group by w""",
    "lists": "select g, to_json(sort_array(collect_list(id))) as ids, min(get(map_keys(m), 0)) as k from t group by g",
    "either": "select id, to_json(m) as j from t union all select id, to_json(m) from u",
    "counted": "select id, to_json(m) as j, count(*) over (partition by g) as r from t",
}
READERS = {
    "keys_of_shown": "select get(map_keys(m), 0) as k, count(*) as c, max(to_json(n)) as n from shown group by get(map_keys(m), 0)"
}

FORWARDS, BACKWARDS = "map('a', 1, 'b', 2)", "map('b', 2, 'a', 1)"


def nested(inner: str) -> str:
    return f"array(named_struct('x', map(1, {inner}), 'y', 2), null)"


def row(id: int, group: int, map: str) -> str:
    return f"({id}, {group}, {map}, {nested(map)})"


@pytest.mark.parametrize("size", SIZES)
def test_maps_keep_the_order_of_their_entries(spark, size, monkeypatch):
    lab = Lab(spark, f"map_order_{size}")
    take_states_for(size, monkeypatch)
    maps = (FORWARDS, BACKWARDS, "map()", "map('b', null)", "null")
    columns = "id int, g int, m map<string,int>, n array<struct<x:map<int,map<string,int>>,y:int>>"
    columns_of_u = "id int, m map<string,int>"
    lab.table("t", columns, *(row(n, n % 3, maps[n % 5]) for n in range(15)))
    lab.table("u", columns_of_u, *(f"({n}, {maps[(n + 1) % 5]})" for n in range(0, 15, 2)))
    views = [lab.view(name, sql) for name, sql in VIEWS.items()]
    side_by_side(lab, views, View.build)
    readers = [lab.view(name, sql) for name, sql in READERS.items()]
    side_by_side(lab, readers, View.build)
    for statements in (
        [f"update t set m = {BACKWARDS} where id in (0, 5)"],  # the same entries in another order
        [f"update t set m = {FORWARDS} where id = 6", "delete from t where id = 1"],
        [
            f"insert into t values {row(20, 1, BACKWARDS)}, {row(20, 1, FORWARDS)}",
            "delete from u where id = 2",
        ],
        [f"update t set n = {nested(FORWARDS)} where g = 1", "update t set g = 0 where id in (1, 6)"],
        ["update t set m = map_filter(m, (k, v) -> k <> 'c')"],  # every row is written again
        [f"insert overwrite t select id, g, {BACKWARDS}, n from t where id < 9"],
    ):
        lab.run(*statements)
        for some in (views, readers):
            assert rounds.refresh_all(lab, some) <= {"incremental", "no_op"}
            side_by_side(lab, some, View.check)


BY_MAPS = {
    "inner_keys": "select n, count(*) as c from (select m, count(*) as n from t group by m) as g group by n",
    "computed": "select k, c from (select map('a', g) as k, g, count(*) as c from t group by map('a', g), g) as x where c > 0",
    "distinct_maps": "select g, count(distinct m) as n from t group by g",
    "conditions": "select a.id, b.id as other from t a left join t b on a.g = b.id and map('a', a.id)['a'] > b.g",
}


def test_what_would_have_to_find_rows_by_maps(spark):
    """Spark joins by no map: such a view is refused when it is built, or needs no such join."""
    lab = Lab(spark, "by_maps")
    lab.table("t", "id int, g int, m map<string,int>", "(1, 1, map('b', 1, 'a', 2))", "(2, 1, map('a', 2))")
    views = {name: lab.view(name, sql) for name, sql in BY_MAPS.items()}
    refused = {name for name, view in views.items() if view.refresh().fallback}
    assert {"inner_keys", "distinct_maps"} <= refused
    lab.run("insert into t values (3, 1, map('a', 2, 'b', 1))", "update t set g = 2 where id = 2")
    for name, view in views.items():
        view.must_be(*(("full", Reason.TYPE_NOT_SUPPORTED) if name in refused else ("incremental",)))
