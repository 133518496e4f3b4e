"""A run computes the changes of a join once for all views that read it through one plain view."""

from __future__ import annotations

import pytest

from sparkivm.refresh.sources.pins import Pins
from tests.refresh.lab import Lab, View

SHARED = frozenset({"shop.order_lines"})
BY_DAY = "select day, count(*) as n, sum(amount) as amount from order_lines group by day"
FLAGGED = "select customer, flag, amount from order_lines where flag = 'R'"
TWICE = "select day, amount from order_lines union all select day, -amount from order_lines"
BY_NAME = "select c.name, sum(l.amount) as amount from order_lines l join customers c on c.id = l.customer group by c.name"
PAIRS = "select a.id, b.amount from order_lines a join order_lines b on a.id = b.id and a.flag < b.flag"
LARGEST = "select flag, max(amount) as amount from order_lines group by flag"
READERS = [BY_DAY, FLAGGED, TWICE, BY_NAME, LARGEST]


@pytest.fixture
def lab() -> Lab:
    lab = Lab()
    lab.table(
        "orders", "id int, customer int, day int, note string",
        "(1, 1, 1, 'a')", "(2, 1, 2, 'b')", "(2, 1, 2, 'b')", "(3, 2, null, 'c')", "(null, 2, 3, 'd')",
    )  # fmt: skip
    lab.table(
        "lines", "order_id int, price int, flag string, open boolean",
        "(1, 10, 'R', true)", "(1, 11, 'A', true)", "(2, 12, 'R', true)", "(3, 5, null, true)",
        "(3, 6, 'R', false)", "(null, 5, 'A', true)",
    )  # fmt: skip
    lab.table("customers", "id int, name string", "(1, 'Ann')", "(2, 'Bob')")
    lab.run(
        "create view order_lines as select o.id, o.customer, o.day, l.price * 2 as amount, l.flag "
        "from orders o join lines l on l.order_id = o.id where l.open"
    )
    return lab


def change(lab: Lab) -> None:
    lab.run(
        "insert into orders values (4, 2, 3, 'e'), (null, 1, 1, 'f')",
        "insert into lines values (4, 7, 'R', true), (4, 8, 'A', false), (2, 1, 'A', true)",
        "update orders set day = 9 where id = 1",
        "delete from lines where price = 12",
        "update lines set open = true where price = 6",
    )


def built(lab: Lab, *queries: str, **options: object) -> list[View]:
    options = {"shared_relations": SHARED, **options}
    return [lab.view(f"m{number}", sql, **options).build() for number, sql in enumerate(queries)]


def computed(statements: tuple[str, ...]) -> int:
    """How often changes of orders are joined with lines."""
    return sum("`lines` version as of" in text and "`orders` version as of" in text for text in statements)


def test_only_the_first_view_computes_the_changes(lab):
    views = built(lab, BY_DAY, FLAGGED, TWICE, BY_NAME)
    change(lab)
    pins = Pins()
    counts = [computed(view.must_be("incremental", pins=pins).statements) for view in views]
    assert counts == [1, 0, 0, 0]


def test_each_run_computes_them_again(lab):
    views = built(lab, BY_DAY, FLAGGED)
    for _ in range(3):
        change(lab)
        pins = Pins()
        assert [computed(view.must_be("incremental", pins=pins).statements) for view in views] == [1, 0]


@pytest.mark.parametrize("sql", [*READERS, PAIRS])
def test_rows_are_those_of_the_query(lab, sql):
    first, view = built(lab, BY_DAY, sql)
    for statement in (
        "insert into lines values (1, 3, 'A', true), (9, 1, 'A', true)",
        "update orders set id = 9 where id = 2",
        "delete from orders where id = 1",
        "update customers set name = 'Cid' where id = 2",
    ):
        lab.run(statement)
        pins = Pins()
        first.must_be("no_op" if "customers" in statement else "incremental", pins=pins)
        view.refresh(pins)
        view.check()


def test_a_view_that_reads_rows_of_the_join_computes_its_own_changes(lab):
    """MAX reads the groups again that lost their maximum."""
    first, view = built(lab, BY_DAY, LARGEST)
    change(lab)
    pins = Pins()
    first.must_be("incremental", pins=pins)
    result = view.must_be("incremental", pins=pins)
    assert "__ivm_step_weight" not in "".join(result.statements)


def test_a_changed_dimension_is_joined_with_rows_of_the_join(lab):
    first, view = built(lab, BY_DAY, BY_NAME)
    change(lab)
    lab.run("update customers set name = 'Cid' where id = 2")
    pins = Pins()
    first.must_be("incremental", pins=pins)
    assert computed(view.must_be("incremental", pins=pins).statements) == 1


def test_a_plain_view_with_one_reader_is_not_shared(lab):
    (view,) = built(lab, BY_DAY, shared_relations=frozenset())
    change(lab)
    statements = view.must_be("incremental", pins=Pins()).statements
    assert "__ivm_step_weight" not in "".join(statements)


def test_views_that_were_last_refreshed_at_other_versions(lab):
    """The changes since another version are other changes."""
    first, view = built(lab, BY_DAY, FLAGGED)
    lab.run("insert into lines values (1, 3, 'R', true)")
    first.must_be("incremental", pins=Pins())
    change(lab)
    pins = Pins()
    assert [computed(v.must_be("incremental", pins=pins).statements) for v in (first, view)] == [1, 1]


def test_changes_that_this_view_does_not_see(lab):
    """An update of a column that it does not read is a change for others."""
    silent, view = built(lab, "select flag, count(*) as n from order_lines group by flag", BY_DAY)
    lab.run("update orders set day = 7 where id = 1", "insert into lines values (1, 3, 'A', true)")
    pins = Pins()
    for one in (silent, view):
        one.must_be("incremental", pins=pins)


REPLACED = {
    "orders": "select id, if(id = 2, 5, customer) as customer, if(id = 1, 9, day) as day, note from orders",
    "lines": "select order_id, if(order_id = 2, 7, price) as price, if(order_id = 3, 'R', flag) as flag, open"
    " from lines",
}


@pytest.mark.parametrize("table", REPLACED)
@pytest.mark.parametrize("order", [(BY_DAY, FLAGGED), (FLAGGED, BY_DAY)])
def test_a_view_that_reads_fewer_columns_than_the_join(lab, order, table):
    """The two versions of a replaced table are compared in all columns of the join."""
    views = built(lab, *order, refresh_mode="incremental")
    (other,) = REPLACED.keys() - {table}
    lab.resize(other, 1 << 30)
    lab.run(f"create or replace table {table} using delta as {REPLACED[table]}")
    pins = Pins()
    results = [view.must_be("incremental", pins=pins) for view in views]
    read = ["`shop`.`orders`" in text or "`shop`.`lines`" in text for text in results[1].statements]
    assert not any(read)
    assert not any(result.warnings for result in results)


def test_another_condition_is_another_join(lab):
    first, other = built(lab, BY_DAY, "select o.day, l.price from orders o join lines l on l.order_id = o.id")
    change(lab)
    pins = Pins()
    assert [computed(view.must_be("incremental", pins=pins).statements) for view in (first, other)] == [1, 1]


def test_an_auxiliary_view_shares_them_too(lab):
    first, view = built(lab, BY_DAY, BY_NAME, auxiliary_views="always")
    assert lab.has("m1__ivm_aux_1")
    change(lab)
    pins = Pins()
    assert [computed(v.must_be("incremental", pins=pins).statements) for v in (first, view)] == [1, 0]


def test_settings_that_decide_the_join(lab):
    """Two sessions of a run may read one condition differently."""
    first, other = built(lab, BY_DAY, FLAGGED)
    change(lab)
    pins = Pins()
    first.must_be("incremental", pins=pins)
    lab.engine.session.settings["spark.sql.session.timeZone"] = "Asia/Tokyo"
    other.refresh(pins)
    other.check()


def test_what_a_run_keeps_is_dropped(lab):
    views = built(lab, BY_DAY, FLAGGED)
    change(lab)
    pins = Pins()
    for view in views:
        view.must_be("incremental", pins=pins)
    assert lab.lake.kept
    pins.memory.drop(lab.engine)
    assert not lab.lake.kept


def test_a_join_with_a_column_that_spark_cannot_join_by(lab):
    """Its changes are not kept, because equal rows could not be netted."""
    lab.run(
        "drop table lines",
        "create table lines (order_id int, price int, tags map<string, int>, flag string) using delta"
        " tblproperties (delta.enableChangeDataFeed = true)",
        "create or replace view order_lines as select o.id, o.day, l.price as amount, l.tags, l.flag"
        " from orders o join lines l on l.order_id = o.id",
    )
    views = built(lab, BY_DAY, "select id, amount from order_lines where flag = 'R'")
    lab.run(
        "insert into orders values (4, 2, 3, 'e')",
        "insert into lines values (1, 7, null, 'R'), (4, 8, null, 'A')",
    )
    pins = Pins()
    assert [computed(view.must_be("incremental", pins=pins).statements) for view in views] == [1, 1]


def test_a_view_that_spark_cannot_keep(lab):
    """Then each view computes its own changes."""
    views = built(lab, BY_DAY, FLAGGED)
    change(lab)
    pins = Pins()
    lab.engine.fails("create global temporary view", "no memory", times=9)
    results = [view.must_be("incremental", pins=pins) for view in views]
    assert [computed(result.statements) for result in results] == [1, 1]
    assert any("cannot cache rows" in warning for warning in results[0].warnings)
