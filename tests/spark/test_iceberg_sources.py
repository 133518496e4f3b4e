"""Iceberg tables as sources: after each kind of event a view is refreshed from changes or rebuilt, never stale."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from sparkivm.names import TableName
from sparkivm.reasons import Reason
from tests.nightly import few_of
from tests.plain_engine import PlainEngine
from tests.spark.lab import Lab, View
from tests.spark_settings import CATALOG_OF_ICEBERG

pytestmark = pytest.mark.spark

ROWS = "(1, 1, 1.5), (2, 1, 2.5), (3, 2, 4), (4, null, 8)"
SUMS = "select k, count(*) as n, sum(x) as s, max(x) as most from ice.{schema}.t group by k"
JOINED = "select t.id, t.x, u.name from ice.{schema}.t as t left join names as u on t.k = u.k"


class IcebergLab(Lab):
    """A laboratory with Iceberg tables in the catalog `ice`."""

    def ice(self, name: str, columns: str, *rows: str, mode: str = "copy-on-write", format: int = 2) -> None:
        modes = "".join(f", 'write.{what}.mode' = '{mode}'" for what in ("delete", "update", "merge"))
        self.run(
            f"drop table if exists ice.{self.schema}.{name}",
            f"create table ice.{self.schema}.{name} ({columns}) using iceberg "
            f"tblproperties ('format-version' = '{format}'{modes})",
        )
        if rows:
            self.run(f"insert into ice.{self.schema}.{name} values {', '.join(rows)}")

    def on(self, *statements: str) -> None:
        """Run statements; {t} stands for the table."""
        self.run(*(text.replace("{t}", f"ice.{self.schema}.t") for text in statements))

    def snapshots(self) -> list[int]:
        found = self.rows(f"select snapshot_id from ice.{self.schema}.t.snapshots order by committed_at")
        return [row["snapshot_id"] for row in found]

    def loaded(self) -> Any:
        """The table as a Java object, for operations that have no SQL statement without Iceberg's extension."""
        spark = self.session._jvm.org.apache.iceberg.spark
        table = spark.Spark3Util.loadIcebergTable(self.session._jsparkSession, f"ice.{self.schema}.t")
        table.refresh()
        return table

    def sums(self) -> View:
        return self.view("sums", SUMS.format(schema=self.schema)).build()


@pytest.fixture(scope="module")
def ice_spark(spark, tmp_path_factory) -> Any:
    warehouse = str(tmp_path_factory.mktemp("iceberg"))
    session = spark.newSession()
    for name, value in {**CATALOG_OF_ICEBERG, "spark.sql.catalog.ice.warehouse": warehouse}.items():
        spark.sparkContext._jsc.sc().conf().set(name, value)
        session.conf.set(name, value)
    return session


@pytest.fixture(params=few_of(["copy-on-write", "merge-on-read"], ["copy-on-write"]))
def mode(request) -> str:
    return str(request.param)


@pytest.fixture
def lab(ice_spark, mode, monkeypatch) -> Iterator[IcebergLab]:
    monkeypatch.setattr(Lab, "_new_session", staticmethod(lambda like: like_ice(like)))
    lab = IcebergLab(ice_spark, "iceberg_sources")
    lab.table("names", "k int, name string", "(1, 'one')", "(2, 'two')")
    lab.ice("t", "id int, k int, x decimal(10,2)", ROWS, mode=mode)
    return lab


def like_ice(like: Any) -> Any:
    session = like.newSession()
    for name in (*CATALOG_OF_ICEBERG, "spark.sql.catalog.ice.warehouse", "spark.sql.ansi.enabled"):
        session.conf.set(name, like.conf.get(name))
    return session


def test_each_kind_of_write(lab, mode):
    views = [lab.sums(), lab.view("joined", JOINED.format(schema=lab.schema)).build()]
    lab.on("insert into {t} values (5, 2, 16), (6, 3, 32)")
    for view in views:
        view.must_be("incremental")
    lab.on(
        "update {t} set x = x + 1 where k = 1",
        "delete from {t} where id = 4",
        "merge into {t} as t using (select 3 as id, 7 as k) as s on t.id = s.id "
        "when matched then update set k = s.k when not matched then insert (id) values (s.id)",
    )
    for view in views:
        view.must_be("incremental")
        assert not view.state_differences()
    lab.on("insert overwrite {t} select * from {t} where id < 3")
    for view in views:
        view.must_be("incremental")
    assert {view.must_be("no_op").mode for view in views} == {"no_op"}


@pytest.mark.nightly
def test_an_append_reads_the_new_rows_alone(lab):
    view = lab.sums()
    lab.on("insert into {t} values (5, 2, 16)")
    text = "\n".join(view.must_be("incremental").statements)
    assert ".changes with (" in text


@pytest.mark.nightly
def test_a_table_to_which_nothing_was_written(lab):
    lab.ice("t", "id int, k int, x decimal(10,2)")
    view = lab.sums()
    assert view.must_be("no_op").statements == ()
    lab.on("insert into {t} values (1, 1, 1)")
    view.must_be("incremental")


@pytest.mark.nightly
def test_compaction_leaves_the_rows(lab, mode):
    view = lab.sums()
    lab.on("insert into {t} values (5, 2, 16)", "insert into {t} values (6, 2, 16)")
    view.must_be("incremental")
    lab.on("call ice.system.rewrite_data_files(table => '{t}', options => map('rewrite-all', 'true'))")
    assert view.must_be("no_op").explanation == "no row of a source changed"
    lab.on("call ice.system.rewrite_manifests('{t}')")
    assert view.refresh().mode == "no_op"
    lab.on("delete from {t} where id = 5")
    view.must_be("incremental")


def test_rollback(lab):
    view = lab.sums()
    first = lab.snapshots()[-1]
    lab.on("insert into {t} values (5, 2, 16)", "update {t} set x = 0 where id = 1")
    view.must_be("incremental")
    lab.on(f"call ice.system.rollback_to_snapshot('{{t}}', {first})")
    view.must_be("incremental")
    lab.on("insert into {t} values (7, 2, 1)")
    view.must_be("incremental")


def test_dropped_and_created_again(lab, mode):
    view = lab.sums()
    lab.ice("t", "id int, k int, x decimal(10,2)", ROWS, "(9, 9, 9)", mode=mode)
    view.must_be("full", Reason.SOURCE_REPLACED)


@pytest.mark.nightly
def test_replaced_in_place(lab):
    view = lab.sums()
    lab.on(
        "create or replace table {t} using iceberg as select 1 as id, 2 as k, cast(3 as decimal(10,2)) as x"
    )
    assert view.refresh().mode in ("incremental", "full")
    view.check()


@pytest.mark.nightly
def test_expired_snapshots(lab):
    view = lab.sums()
    lab.on("insert into {t} values (5, 2, 16)", "insert into {t} values (6, 2, 16)")
    lab.loaded().expireSnapshots().expireSnapshotId(lab.snapshots()[0]).commit()
    view.must_be("full", Reason.HISTORY_UNAVAILABLE)
    lab.on("insert into {t} values (7, 2, 16)", "insert into {t} values (8, 2, 16)")
    lab.loaded().expireSnapshots().expireSnapshotId(lab.snapshots()[-2]).commit()
    view.must_be("incremental")  # by comparing two versions


@pytest.mark.nightly
@pytest.mark.parametrize("written_after", [False, True])
@pytest.mark.parametrize(
    ("alter", "mode_of_refresh"),
    {
        "added": ("alter table {t} add column y int", "incremental"),
        "another": ("alter table {t} rename column id to number", "incremental"),
        "widened": ("alter table {t} alter column k type bigint", "full"),
        "gone and back": (
            "alter table {t} drop column x; alter table {t} add column x decimal(10,2)",
            "full",
        ),
        "partitioned": ("partition", "incremental"),
    }.values(),
    ids=["added", "another", "widened", "gone and back", "partitioned"],
)
def test_altered_columns(lab, alter, mode_of_refresh, written_after):
    view = lab.sums()
    if alter == "partition":
        lab.loaded().updateSpec().addField("k").commit()
    else:
        lab.on(*alter.split("; "))
    if written_after:
        lab.on("delete from {t} where k = 1")
    result = view.refresh()
    view.check()
    assert result.mode == mode_of_refresh if written_after else result.mode in ("no_op", mode_of_refresh)
    lab.on("delete from {t} where k = 2")
    view.refresh()
    view.check()


def test_columns_that_change_their_names_with_each_other(lab):
    """Readers find the right columns, whether or not rows were written since."""
    lab.ice("t", "id int, k int, x decimal(10,2), z decimal(10,2)", "(1, 1, 1, 2)", "(2, 2, 3, 4)")
    view = lab.sums()
    swap = [f"alter table {{t}} rename column {a} to {b}" for a, b in (("x", "y"), ("z", "x"), ("y", "z"))]
    lab.on(*swap)
    view.refresh()
    view.check()
    lab.on("insert into {t} values (3, 1, 5, 6)", "delete from {t} where id = 1")
    view.refresh()
    view.check()


def test_imported_files(lab, tmp_path):
    """They have no ids of columns: names in a property decide what their columns are."""
    files = lab.session.sql("select 1 as id, 1 as k, cast(3 as decimal(10,2)) as x, 7 as extra")
    files.coalesce(1).write.parquet(str(tmp_path / "files"))
    mapping = "'schema.name-mapping.default'"
    wrong = '[{"field-id": 1, "names": ["id"]}, {"field-id": 2, "names": ["k"]}]'
    lab.ice("t", "id int, k int, x decimal(10,2)")
    lab.on(
        f"alter table {{t}} set tblproperties ({mapping} = '{wrong}')",
        f"call ice.system.add_files(table => '{{t}}', source_table => 'parquet.`{tmp_path}/files`')",
    )
    view = lab.sums()
    assert [row["s"] for row in lab.rows(f"select s from {view.public}")] == [None]
    right = wrong.replace("}]", '}, {"field-id": 3, "names": ["x"]}]')
    lab.on(f"alter table {{t}} set tblproperties ({mapping} = '{right}')")
    view.must_be("full", Reason.SOURCE_SCHEMA_CHANGED)
    assert [row["s"] for row in lab.rows(f"select s from {view.public}")] == [3]
    lab.on("alter table {t} add column extra int")
    extra = lab.view("extra", f"select id, extra from ice.{lab.schema}.t").build()
    assert [row["extra"] for row in lab.rows(f"select extra from {extra.public}")] == [7]
    lab.on("insert into {t} values (2, 1, 5, 8)")
    for one in (view, extra):
        one.refresh()
        one.check()


@pytest.mark.nightly
def test_a_branch_is_not_the_table_until_it_is_published(lab):
    view = lab.sums()
    table = lab.loaded()
    table.manageSnapshots().createBranch("audit", table.currentSnapshot().snapshotId()).commit()
    lab.on("insert into {t}.branch_audit values (5, 2, 16)")
    assert view.must_be("no_op").mode == "no_op"
    lab.loaded().manageSnapshots().fastForwardBranch("main", "audit").commit()
    view.must_be("incremental")


def test_another_sessions_commits_are_seen(lab):
    """A catalog caches tables for half a minute."""
    view = lab.sums()
    other = lab.another()
    for number in range(3):
        other.run(f"insert into ice.{lab.schema}.t values ({10 + number}, 1, 1)")
        assert view.refresh().mode == "incremental"
        lab.on("refresh table {t}")  # for the recomputation
        view.check()


@pytest.mark.nightly
def test_both_ways_of_looking_find_the_same(lab):
    name = TableName(lab.schema, "t", "ice")
    lab.on("update {t} set x = 0 where id = 1", "alter table {t} add column y int")
    engine = PlainEngine(lab.session)
    by_sql = PlainEngine(lab.session)
    by_sql._metadata = by_sql._metadata._by_sql
    mine, other = engine.describe(name), by_sql.describe(name)
    assert mine is not None
    assert mine == other
    assert mine.commit_id == other.commit_id
    assert engine.commits(name, 0) == by_sql.commits(name, 0)


@pytest.mark.nightly
@pytest.mark.parametrize("format", [3])
def test_format_3(lab, mode, format):
    lab.ice("t", "id int, k int, x decimal(10,2)", ROWS, mode=mode, format=format)
    view = lab.sums()
    lab.on("update {t} set x = x + 1 where k = 1", "delete from {t} where id = 4")
    view.must_be("incremental")


@pytest.mark.nightly
def test_a_table_of_format_1_is_mirrored(lab):
    lab.ice("t", "id int, k int, x decimal(10,2)", ROWS, format=1)
    view = lab.sums()
    lab.on("insert into {t} values (5, 2, 16)")
    view.must_be("incremental")
