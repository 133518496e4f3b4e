"""A view that is computed again hands on the rows that really changed to the views above it in the same run."""

from __future__ import annotations

import random

import pytest

from sparkivm.refresh.sources.pins import Pins
from tests.refresh.lab import Lab, View

MANY = 100_000  # rows that the feed of a large state that was computed again has

BELOW = {
    "rows": "select id, k, x from t where x > 0",
    "inner join": "select t.id, t.x, u.z from t join u on t.k = u.k",
    "left join": "select t.id, t.k, t.x, u.z from t left join u on t.k = u.k",
    "full join": "select t.id, u.k, t.x, u.z from t full join u on t.k = u.k",
    "not exists": "select id, k, x from t where not exists (select 1 from u where u.k = t.k)",
    "union": "select id, x from t union all select k, z from u",
    "exploded": "select id, x, e from t lateral view explode(array(k, x)) as e",
    "ordered": "select id, x from t order by k",
    "another type": "select id, cast(k as tinyint) as k, x from t left join u using (k)",
}
ABOVE = "select x, count(*) as n, max(id) as m from v group by x"
BATCHES = (
    ("insert into t values (6, 2, 5), (6, 2, 5), (null, null, 9)", "delete from u where k = 1"),
    ("update t set k = 2 where id = 1", "update u set z = null where k = 2"),
    ("delete from t where x = 5", "insert into u values (1, 7), (1, 7), (null, 1)"),
    ("delete from t", "delete from u"),
    ("insert into t values (1, 1, 1)", "insert into u values (1, 1)"),
)


@pytest.fixture
def lab() -> Lab:
    lab = Lab()
    lab.table("t", "id int, k int, x int", "(1, 1, 2)", "(2, 1, 7)", "(3, 2, 4)", "(3, 2, 4)", "(4, null, 7)")
    lab.table("u", "k int, z int", "(1, 3)", "(2, 1)", "(9, 5)")
    return lab


def below(lab: Lab, sql: str, **options: object) -> View:
    return lab.view("v", sql, **{"refresh_mode": "auto", **options}).build()


def computed_again(view: View, pins: Pins) -> None:
    assert view.must_be("incremental", pins=pins).apply_form == "recompute"
    view.lab.says_many(view.state, MANY)


def reads_feed(above: View, pins: Pins) -> bool:
    """Refresh a view. Returns: whether it reads the feed of the view below."""
    statements = above.must_be("incremental", pins=pins).statements
    return any("table_changes('`shop`.`v__ivm`'" in text for text in statements)


@pytest.mark.parametrize("name", BELOW)
def test_views_above_get_the_rows_of_a_rebuild(lab, name):
    view, above = below(lab, BELOW[name]), lab.view("w", ABOVE).build()
    handed = 0
    for batch in BATCHES:
        lab.run(*batch)
        pins = Pins()
        if view.must_be("incremental", pins=pins).apply_form == "recompute":
            lab.says_many(view.state, MANY)
            handed += not reads_feed(above, pins)
        else:
            above.refresh(pins)
        above.check()
    assert handed > 2


READERS = {
    "groups": "select x, count(*) as n, sum(id) as s from v group by x",
    "joined": "select v.id, u.z from v join u on u.k = v.x",
    "with itself": "select a.id, b.x from v a left join v b on a.id = b.x",
    "ranked": "select id, x, row_number() over (partition by x order by id) as r from v",
    "not exists": "select id from v where not exists (select 1 from t where t.x = v.x and t.id > v.id)",
    "topped": "select id, x from v order by x desc, id limit 3",
    "distinct": "select distinct x from v",
}


@pytest.mark.parametrize("number", range(12))
def test_random_rounds(lab, number):
    """A chain of two views, and readers of both."""
    rng = random.Random(number)
    chain = [below(lab, BELOW[rng.choice(sorted(BELOW))])]
    chain.append(lab.view("v2", "select id, x from v where x <> 4", refresh_mode="auto").build())
    readers = []
    for name, sql in READERS.items():
        of = rng.choice(("v", "v2"))
        sql = sql.replace("from v", f"from {of}").replace("join v ", f"join {of} ").replace("v.", f"{of}.")
        readers.append(lab.view(f"r_{name.replace(' ', '_')}", sql, refresh_mode="auto").build())
    for _ in range(4):
        for _ in range(rng.randint(1, 4)):
            lab.run(_change(rng))
        pins = Pins()
        for view in (*chain, *readers):
            if view.refresh(pins).apply_form == "recompute" and view in chain:
                lab.says_many(view.state, MANY)
            view.check()


def _change(rng: random.Random) -> str:
    i, k, x = rng.randint(1, 9), rng.choice(("null", "1", "2", "9")), rng.choice(("null", "2", "4", "7"))
    return rng.choice(
        (
            f"insert into t values ({i}, {k}, {x}), ({i}, {k}, {x})",
            f"insert into u values ({k}, {x})",
            f"update t set k = {k} where id <= {i}",
            f"update t set x = {x} where id = {i}",
            f"update u set z = {x} where k = {k if k != 'null' else 1}",
            f"delete from t where id = {i}",
            f"delete from u where z = {x if x != 'null' else 1}",
            "delete from u",
        )
    )


def test_a_later_run_reads_the_feed(lab):
    view, above = below(lab, BELOW["left join"]), lab.view("w", ABOVE).build()
    lab.run("update t set x = 8 where id = 1")
    computed_again(view, Pins())
    assert reads_feed(above, Pins())


def test_a_view_that_was_last_refreshed_at_another_version_reads_the_feed(lab):
    view, above = below(lab, BELOW["left join"]), lab.view("w", ABOVE).build()
    for x in (8, 9):
        lab.run(f"update t set x = {x} where id = 1")
        pins = Pins()
        computed_again(view, pins)
    assert reads_feed(above, pins)


def test_two_views_read_what_the_first_one_keeps(lab):
    view = below(lab, BELOW["left join"])
    readers = [
        lab.view(name, sql, shared_relations=frozenset({"shop.v__ivm"})).build()
        for name, sql in (("w1", ABOVE), ("w2", "select z, count(*) as n from v group by z"))
    ]
    lab.run("update t set x = 8 where id = 1", "insert into u values (1, 4)")
    pins = Pins()
    computed_again(view, pins)
    texts = [above.must_be("incremental", pins=pins).statements for above in readers]
    assert ["table_changes('`shop`.`t`'" in "".join(statements) for statements in texts] == [True, False]


@pytest.mark.parametrize(
    "sql",
    [
        "select k, max(x) as x, count(*) as id from t group by k",  # groups have hidden columns
        "select id, max(x) over (partition by k) as x from t",
        "select t.id, m.x from t join (select k, max(x) as x from t group by k) m on m.k = t.k",
        "select id, x from t where current_date() > date '2000-01-01'",
        "select id, x, map(id, z) as m from t left join u using (k)",
        "select id, x, array(z) as a from t left join u using (k)",
    ],
)
def test_rows_that_do_not_follow_from_changed_rows_alone(lab, sql):
    view, above = below(lab, sql), lab.view("w", ABOVE).build()
    lab.run("update t set x = 8 where id = 1")
    pins = Pins()
    computed_again(view, pins)
    assert reads_feed(above, pins)


def test_few_changes_are_read_from_the_feed(lab):
    view, above = below(lab, BELOW["left join"]), lab.view("w", ABOVE).build()
    lab.run("update t set x = 8 where id = 1")
    pins = Pins()
    assert view.must_be("incremental", pins=pins).apply_form == "recompute"
    assert reads_feed(above, pins)


def test_the_values_of_expressions_depend_on_the_session(lab):
    """Another session of the run may have other settings."""
    view, above = below(lab, BELOW["left join"]), lab.view("w", ABOVE).build()
    lab.engine.set({"spark.sql.session.timeZone": "Asia/Tokyo"})
    above.refresh()
    lab.engine.unset(["spark.sql.session.timeZone"])
    lab.run("update t set x = 8 where id = 1")
    pins = Pins()
    computed_again(view, pins)
    lab.engine.set({"spark.sql.session.timeZone": "Asia/Tokyo"})
    assert reads_feed(above, pins)
