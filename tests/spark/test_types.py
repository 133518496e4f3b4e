"""Types whose values cannot be compared for equality: such views are rebuilt, with the reason."""

from __future__ import annotations

import pytest

from sparkivm.reasons import Reason
from tests.nightly import few_of
from tests.spark.lab import Lab
from tests.spark.state_sizes import SIZES, take_states_for

pytestmark = [pytest.mark.spark, pytest.mark.slow]

TABLE = (
    "id int, v variant, m map<string,int>, a array<struct<x:int,y:string>>, "
    "e struct<kind:string,at:struct<day:int,hour:int>>, items array<struct<variant_id:bigint,`a:b`:int>>"
)
ROWS = (
    "(1, parse_json('{\"x\": 1}'), map('k', 1), array(named_struct('x', 1, 'y', 'p')), "
    "named_struct('kind', 'a', 'at', named_struct('day', 1, 'hour', 5)), "
    "array(named_struct('variant_id', 7L, 'a:b', 1)))",
    "(2, parse_json('[2]'), map('l', 2), null, named_struct('kind', null, 'at', null), null)",
    "(2, null, null, array(), null, array())",
)
FULL = {
    "variant": "select id, v from things",
    "of_variants": "select id, to_json(v) as j from things",
    "by_maps": "select m, max(id) as most from things group by m",
    "maps_in_on": "select t.id, u.id as other from things t left join things u on t.m['k'] = u.m['k'] and t.id <= u.id",
    "maps_in_exists": "select id from things t where exists (select 1 from things u where u.id > t.m['k'])",
}
INCREMENTAL = {
    "unread": "select id, count(*) as n from things group by id",
    "nested": "select id, a, get(a, 0).x as x from things",
    "names_like_types": "select id, items from things",
    "by_names_like_types": "select items, count(*) as n, max(id) as most from things group by items",
    "unclear_names": "select max(items) as most, count(*) as n from things",
    "distinct_arrays": "select distinct a from things",
    "fields": "select id, inline(a) from things",
    "spread": "select id, e.* from things",
    "spread_items": "select id, i.*, i.x + 1 as more from things lateral view outer explode(a) as i",
    "spread_groups": "select t.e.at.*, count(*) as n from things as t group by all",
    "odd_names": "select named_struct('first-name', id) as s from things "
    "union all select named_struct('first-name', cast(id as bigint)) from things",
    "odd_extrema": "select max(struct(id as `event-time`, a)) as m, count(*) as n from things",
    "entries": "select id, pos, key, value from things lateral view outer posexplode(m) e",
    "maps": "select id, m, struct(m) as s from things",
    "maps_of_a_join": "select t.id, t.m, u.m as other from things t left join things u on t.id = u.id + 1",
    "values_in_on": "select t.id, u.id as other from (select id, m['k'] as k from things) t left join things u "
    "on t.k = u.m['k'] and t.id <= u.id",
    "distinct_maps": "select m from things group by m",
    "counts_by_maps": "select m, count(*) as n, sum(id) as s from things group by m",
    "of_maps": "select m['k'] as k, max(id) as id from things group by m['k']",
}


@pytest.mark.parametrize("size", few_of(SIZES, ["huge"]))
def test_types_that_are_more_than_one_value(either_spark, monkeypatch, size):
    take_states_for(size, monkeypatch)
    lab = Lab(either_spark, "types")
    lab.run(f"create table things ({TABLE}) using delta tblproperties (delta.enableChangeDataFeed = true)")
    lab.run(f"insert into things select * from values {', '.join(ROWS)}")
    full = [lab.view(name, sql) for name, sql in FULL.items()]
    incremental = [lab.view(name, sql) for name, sql in INCREMENTAL.items()]
    assert {view.refresh().fallback.reason for view in full} == {Reason.TYPE_NOT_SUPPORTED}
    for view in incremental:
        view.build()
    lab.run(
        "update things set id = id + 1 where id = 2",
        "delete from things where id = 1",
    )
    for view in full:
        assert view.refresh().mode == "full"
    for view in incremental:
        view.must_be("incremental")
    lab.run(
        "insert into things select * from values (3, null, map('z', 1, 'y', 2), null, null, array(named_struct('variant_id', 7L, 'a:b', 1)))"
    )
    lab.run("update things set m = map('y', 2, 'z', 1) where id = 3")
    for view in incremental:
        view.must_be("incremental")


def test_columns_are_those_of_a_table(spark):
    """`View.check_columns` relies on this."""
    lab = Lab(spark, "types_of_columns")
    lab.run(
        f"create table things ({TABLE}, n int not null, c char(3), w varchar(4)) using delta "
        "tblproperties (delta.enableChangeDataFeed = true)"
    )
    sql = "select *, n + 1 as more, 'x' as text, count(*) as rows from things group by all"
    for name, query in (("of_rows", "select *, n + 1 as more, 'x' as text from things"), ("of_groups", sql)):
        view = lab.view(name, query.replace("*,", "id, a, e, n, c, w,", 1)).build()
        lab.run(f"create table {name}__as_table using delta as {view.request.sql}")
        mine, theirs = (lab.session.table(table).schema for table in (name, f"{name}__as_table"))
        assert [(f.name, f.dataType.simpleString(), f.nullable) for f in mine] == [
            (f.name, f.dataType.simpleString(), f.nullable) for f in theirs
        ]
