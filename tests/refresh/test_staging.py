"""What a refresh stages, and what the views of a run share: made once, and dropped afterwards."""

from __future__ import annotations

import time

import pytest

from sparkivm.marker import Marker, Role
from sparkivm.names import STEP_SUFFIX
from sparkivm.reasons import Reason
from sparkivm.refresh.sources.pins import Pins
from tests.fake_engine.engine import Killed
from tests.refresh.lab import Lab, View

NESTED = (
    "with a as (select id, sum(n) as n from orders group by id), "
    "b as (select x.id, x.n, y.n as m from a x join a y on x.id = y.id) "
    "select u.id, v.m, w.n from b u join b v on u.n = v.n join b w on w.id = v.m"
)
PAIRS = (
    "select a.id, s.name, b.shop as other from orders a join orders b on a.id = b.id "
    "join shops s on a.shop = s.id left join shops t on t.id = b.shop"
)
SUMS = "select shop, sum(n) as n from orders group by shop"


@pytest.fixture
def lab() -> Lab:
    lab = Lab()
    lab.table("orders", "id int, shop int, n int", "(1, 1, 1)", "(1, 1, 1)", "(2, null, 2)", "(null, 2, 3)")
    lab.table("shops", "id int, name string", "(1, 'a')", "(2, 'b')")
    return lab


def change(lab: Lab) -> None:
    lab.run("insert into orders values (2, 2, 4)", "update orders set n = 5 where id = 1")


def steps(lab: Lab) -> list[str]:
    return [name for name in lab.names() if STEP_SUFFIX in name]


def step_of(view: View, name: str, role: Role = Role.STEP) -> None:
    """Create a step's table, as a killed refresh leaves it."""
    marker = Marker(view.request.owner, role).properties
    properties = ", ".join(f"'{key}' = '{value}'" for key, value in marker.items())
    view.lab.run(f"create table {name} using parquet tblproperties ({properties}) as select 1 as x")


# changes


@pytest.mark.parametrize(
    ("sql", "is_made"),
    [
        ("select shop, max(n) as n from orders group by shop", True),
        ("select shop, n from orders", False),
        (SUMS, False),
    ],
)
def test_changes_that_a_statement_reads_twice_are_made_before_it(lab, sql, is_made):
    view = lab.view("m", sql).build()
    change(lab)
    statements = view.must_be("incremental").statements
    assert any(text.startswith("cache table") for text in statements) == is_made


# steps


def test_steps_leave_no_table_behind(lab):
    view = lab.view("m", NESTED, refresh_mode="strict").build()
    change(lab)
    result = view.must_be("incremental")
    assert any(STEP_SUFFIX in text and text.startswith("create table") for text in result.statements)
    assert steps(lab) == []


def test_small_tables_are_read_rather_than_a_plan_computed_in_steps(lab):
    """Steps are slow, however small the tables are."""
    sums = f"select id, count(*) as n from ({NESTED}) as nested group by id"
    view = lab.view("m", sums, refresh_mode="auto", auxiliary_views="never").build()
    change(lab)
    view.must_be("full", Reason.CHEAPER_IN_FULL)


@pytest.mark.parametrize("failing", ["create table", "insert"])
def test_steps_are_gone_after_a_failure(lab, failing):
    view = lab.view("m", NESTED).build()
    change(lab)
    lab.engine.fails(failing, "[SOMETHING] is wrong")
    assert view.refresh().mode == "full"
    view.check()
    assert steps(lab) == []


def test_steps_of_a_driver_that_died_are_dropped_when_they_are_old(lab):
    """Younger ones may be another driver's; a table without this view's step marker is somebody else's."""
    view = lab.view("m", NESTED).build()
    other = lab.view("m2", NESTED).build()
    hours_ago = f"{int(time.time()) - 8 * 3600:x}"
    old, young = (f"{STEP_SUFFIX}{second}_0a1b_1" for second in ("66000000", hours_ago))
    step_of(view, f"m{old}")
    step_of(view, f"m{young}")
    step_of(other, f"m2{old}")
    step_of(view, f"m{STEP_SUFFIX}66000000_0a1b_2", Role.MIRROR)
    lab.run(f"create table m{STEP_SUFFIX}66000000_0a1b_3 using parquet as select 1 as x")
    change(lab)
    view.must_be("incremental")
    assert steps(lab) == sorted(
        [f"m{young}", f"m2{old}", f"m{STEP_SUFFIX}66000000_0a1b_2", f"m{STEP_SUFFIX}66000000_0a1b_3"]
    )


def test_a_driver_that_dies_between_two_steps(lab):
    view = lab.view("m", NESTED).build()
    change(lab)
    lab.engine.is_killed("create table", "after")
    with pytest.raises(Killed):
        view.refresh()
    assert len(steps(lab)) == 1
    view.on(lab.another()).must_be("incremental")
    view.on(lab.another()).drop()
    assert lab.names() == ["orders", "shops"]


def test_views_of_changes_are_dropped_at_the_end(lab):
    lab.resize("m__ivm", 9 << 20)
    view = lab.view("m", "select shop, max(n) as n from orders group by shop").build()
    for failing in ("", "insert"):
        change(lab)
        if failing:
            lab.engine.fails(failing, "[SOMETHING] is wrong")
        view.refresh()
        view.check()
        assert not lab.engine.session.temporary


# what a run keeps in memory


def kept(statements: tuple[str, ...]) -> list[str]:
    """Names of the views that were put in memory."""
    return [text.split()[4] for text in statements if text.startswith("create global")]


def test_the_views_of_a_run_share_what_they_read(lab):
    pairs, sums = lab.view("pairs", PAIRS).build(), lab.view("sums", SUMS).build()
    change(lab)
    run = Pins()
    first = pairs.refresh(run)
    names = kept(first.statements)
    assert names
    assert "table_changes" not in first.statements[-1]
    second = sums.on(lab.another()).refresh(run)
    assert kept(second.statements) == []
    assert any(name in second.statements[-1] for name in names)
    run.memory.drop(lab.engine)
    assert lab.lake.kept == {}
    for view in (pairs, sums):
        view.check()


def test_views_in_another_time_zone_share_nothing(lab):
    """Delta reads timestamps that partition a table in the session's time zone."""
    tokyo = {"spark.sql.session.timeZone": "Asia/Tokyo"}
    here, there = lab.view("here", PAIRS).build(), lab.view("there", PAIRS)
    lab.engine.set(tokyo)
    there.build()
    change(lab)
    run = Pins()
    second = kept(there.refresh(run).statements)
    lab.engine.unset(list(tokyo))
    first = kept(here.refresh(run).statements)
    assert len(first) == len(second) > 0
    run.memory.drop(lab.engine)


def test_what_was_dropped_is_made_again(lab):
    """Under a new name, and it is dropped once."""
    pairs, again = lab.view("pairs", PAIRS).build(), lab.view("again", PAIRS).build()
    change(lab)
    run = Pins()
    first = kept(pairs.must_be("incremental", pins=run).statements)
    run.memory.drop(lab.engine)
    assert not run.memory
    second = kept(again.must_be("incremental", pins=run).statements)
    assert second
    assert not set(first) & set(second)
    lab.engine.ran.clear()
    run.memory.drop(lab.engine)
    assert len([text for text in lab.engine.ran if text.startswith("drop")]) == len(second)


def test_rows_kept_in_fewer_columns_are_read_again(lab):
    """Another view of the run may read a column that the first view did not read."""
    names = lab.view("names", PAIRS).build()
    lab.table("wide", "id int, m map<string, int>, a int", "(1, null, 1)")
    lab.run("alter table orders add columns (late int)")
    late = lab.view("late", PAIRS.replace("b.shop as other", "b.late as other")).build()
    lab.run("insert into orders values (2, 2, 4, 7)", "update orders set late = 5 where id = 1")
    run = Pins()
    for view in (names, late):
        view.refresh(run)
        view.check()
    run.memory.drop(lab.engine)


def test_the_next_run_sees_newer_rows(lab):
    pairs = lab.view("pairs", PAIRS).build()
    for _ in range(2):
        change(lab)
        lab.run("update shops set name = concat(name, 'x')")
        pairs.must_be("incremental")
        assert lab.lake.kept == {}


def test_a_cluster_that_keeps_nothing_in_memory(lab):
    pairs = lab.view("pairs", PAIRS).build()
    change(lab)
    lab.engine.fails("create global", "[UNSUPPORTED] no such views here", times=9)
    result = pairs.must_be("incremental")
    assert len([text for text in result.warnings if "no such views here" in text]) == 1


def test_what_is_kept_is_stored_as_it_was_read(lab):
    """Spark would read the text of a view again, under the settings of its readers."""
    setting, found = "spark.sql.legacy.storeAnalyzedPlanForView", []
    pairs = lab.view("pairs", PAIRS).build()
    change(lab)
    lab.engine.before("create global", lambda: found.append(lab.engine.session.setting(setting)))
    pairs.must_be("incremental")
    assert [*found, lab.engine.session.setting(setting)] == ["true", None]


def test_nothing_is_kept_for_one_use(lab):
    sums = lab.view("sums", SUMS).build()
    change(lab)
    assert kept(sums.must_be("incremental").statements) == []


def test_changes_that_spark_does_not_keep_in_memory_are_read_from_the_log_once(lab):
    view = lab.view("m", NESTED).build()
    change(lab)
    lab.engine.fails("cache lazy table", "[OUT_OF_MEMORY]", times=9)
    statements = view.must_be("incremental").statements
    assert (
        sum("table_changes" in text for text in statements if text.startswith(("create table", "insert")))
        == 1
    )
