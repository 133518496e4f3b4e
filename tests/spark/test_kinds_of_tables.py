"""Delta tables of all kinds with all kinds of commits, each under one view of groups and one of rows."""

from __future__ import annotations

import itertools

import pytest

from sparkivm.reasons import Reason
from sparkivm.refresh.operations.consistency import consistency_sql
from tests.plain_engine import PlainEngine
from tests.spark.lab import FEED, Lab, View

pytestmark = pytest.mark.spark

_NUMBER = itertools.count()
COLUMNS = "id bigint, k int, x decimal(10,2)"
_ON = "delta.enableChangeDataFeed = true"
KINDS = {
    "parts": f"create table parts ({COLUMNS}, twice decimal(11,2) generated always as (cast(x * 2 as decimal(11,2)))) using delta partitioned by (k, twice) {FEED}",
    "clustered": f"create table clustered ({COLUMNS}) using delta cluster by (k, id) tblproperties ({_ON}, delta.enableDeletionVectors = true)",
    "numbered": f"create table numbered (number bigint generated always as identity, {COLUMNS}) using delta {FEED}",
    "mapped": "create table mapped (gone string, id bigint, k int, y decimal(10,2) not null default 0) using delta "
    f"tblproperties ({_ON}, delta.columnMapping.mode = 'name', delta.enableInCommitTimestamps = true, delta.enableRowTracking = true, "
    "delta.checkpointPolicy = 'v2', delta.enableTypeWidening = true, delta.feature.allowColumnDefaults = 'supported')",
}  # fmt: skip
AFTERWARDS = {
    "mapped": ("alter table mapped rename column y to x", "alter table mapped drop column gone"),
}
ROWS = "(1, 1, 1.5), (2, 1, 2.5), (2, 1, 2.5), (3, 2, 4), (4, null, 1)"


@pytest.fixture
def lab(spark) -> Lab:
    lab = Lab(spark, f"kinds_{next(_NUMBER)}")
    lab.session.conf.set("spark.databricks.delta.retentionDurationCheck.enabled", "false")
    return lab


def union(items: str) -> str:
    return " union all ".join(f"select '{kind}' as kind, {items} from {kind}" for kind in KINDS)


# Each step runs on every kind of table, then the views are refreshed once.
STEPS = {
    "insert": ("insert into {} (id, k, x) values (5, 3, 8), (6, 1, 1), (6, 1, 1)",),
    "update": ("update {} set x = x + 1, k = 2 where id in (2, 4)",),
    "delete_merge": (
        "delete from {} where id = 6",
        "merge into {} as t using (select * from values (1, 5), (9, 6) as v (i, v)) as s on t.id = s.i when matched and s.v > 5 then delete "
        "when matched then update set x = s.v when not matched then insert (id, k, x) values (s.i, 3, s.v) when not matched by source and t.k = 3 then delete",
    ),
    "without_rows": (),
    "restore": ("restore table {} to version as of 2",),
    "overwrite": ("insert overwrite {} (id, k, x) values (1, 1, 5), (8, 8, 8), (8, 8, 8)",),
    "more": (),
    "truncate": ("truncate table {}",),
}  # fmt: skip
EXTRAS = {
    "without_rows": (
        "optimize parts", "alter table parts add constraint small check (x < 1000)", "alter table clustered cluster by (id)",
        "optimize clustered full", "reorg table clustered apply (purge)", "comment on table mapped is 'a table'", "optimize mapped zorder by (id)",
    ),
    "more": (
        "vacuum parts retain 0 hours", "delete from clustered where id = 1", "reorg table clustered apply (purge)",
        "insert into clustered replace where k = 8 select 7, 8, 1.0",
        "alter table mapped rename column x to z", "alter table mapped rename column z to x", "update mapped set x = 3 where id = 1",
        "alter table parts add columns (extra string)", "insert into parts (id, k, x, extra) values (11, 4, 4, 'e')",
    ),
}  # fmt: skip


def test_every_kind_through_every_step(lab):
    for kind, create in KINDS.items():
        lab.run(create, *AFTERWARDS.get(kind, ()), f"insert into {kind} (id, k, x) values {ROWS}")
    view = lab.view(
        "rows", " union all ".join(f"select '{kind}' as kind, id, k, x from {kind}" for kind in KINDS)
    ).build()
    wrong = {}
    for step, statements in STEPS.items():
        for kind in KINDS:
            lab.run(*(statement.format(kind) for statement in statements))
        lab.run(*EXTRAS.get(step, ()))
        result = view.refresh()
        found = (result.mode, result.fallback, view.differences())
        if found != ("no_op" if step == "without_rows" else "incremental", None, []):
            wrong[step] = found
    assert not wrong


@pytest.fixture
def view(lab) -> View:
    lab.table("t", COLUMNS, "(1, 1, 1.5)", "(2, 1, 2.5)", "(3, 2, 4)")
    return lab.view("m", "select k, count(*) as n, sum(x) as s from t group by k").build()


def test_dynamic_overwrite_of_partitions(lab):
    lab.run(
        f"create table parts ({COLUMNS}) using delta partitioned by (k) {FEED}",
        f"insert into parts values {ROWS}",
    )
    view = lab.view("m", "select id, k, x from parts").build()
    lab.session.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")
    lab.run(
        "insert overwrite parts values (7, 1, 7), (8, 5, 8)",
        "alter table parts set tblproperties (mine = 'x')",
    )
    view.must_be("incremental")


def test_evolution_of_the_schema_by_writes(lab, view):
    merge = "merge with schema evolution into t using (select 3L as id, 5 as k, cast(1 as decimal(10,2)) as x, 'n' as note) as s on t.id = s.id when matched then update set * when not matched then insert *"
    lab.run(merge, "insert into t (id, k, x, note) values (12, 2, 1, 'later')")
    view.must_be("incremental")
    lab.run(
        "set spark.databricks.delta.schema.autoMerge.enabled = true",
        "insert into t select 13L as id, 2 as k, 1.0 as x, 'a' as note, true as more",
    )
    view.must_be("incremental")


def test_clones(lab, view):
    lab.run("create table c shallow clone t")
    over = lab.view("over_clone", "select k, sum(x) as s from c group by k").build()
    lab.run("insert into c values (9, 1, 9)", "delete from c where id = 1", "update t set x = 0 where id = 2")
    over.must_be("incremental")
    lab.run(
        "truncate table c", "create or replace table c shallow clone t", "insert into c values (10, 1, 9)"
    )
    over.must_be("incremental")
    view.must_be("incremental")


def test_conversion_of_a_mirrored_table(lab, tmp_path):
    lab.run(
        f"create table p using parquet location '{tmp_path}/p' as select 1 as k, 1 as x",
        "insert into p values (2, 2)",
    )
    view = lab.view("m", "select k, sum(x) as s from p group by k").build()
    lab.run(
        "drop table p",
        f"convert to delta parquet.`{tmp_path}/p`",
        f"create table p using delta location '{tmp_path}/p'",
    )
    view.must_be("full", Reason.SOURCE_REPLACED)
    lab.run("insert into p values (3, 3)", "delete from p where k = 1")
    view.must_be("incremental")


def test_type_that_is_widened(lab):
    lab.run(
        "create table t (id int, k int, x int, unread int) using delta tblproperties (delta.enableChangeDataFeed = true, delta.enableTypeWidening = true)"
    )
    lab.run("insert into t values (1, 1, 1, 1)")
    view = lab.view("m", "select k, sum(x) as s from t group by k").build()
    lab.run("alter table t alter column unread type bigint", "insert into t values (2, 1, 5, 5000000000)")
    view.must_be("incremental")
    lab.run("alter table t alter column x type bigint", "insert into t values (3, 1, 5000000000, 1)")
    view.must_be("full", Reason.SOURCE_SCHEMA_CHANGED)
    lab.run("insert into t values (4, 1, 1, 1)", "alter table t alter column id type bigint")
    view.must_be("incremental")


@pytest.mark.parametrize("columns", [("k",), ()], ids=["partitioned", "not partitioned"])
def test_an_overwrite_with_other_partitions(lab, columns):
    """Delta's feed then shows NULL for the partition column of the rows that are gone."""
    lab.run(f"create table t ({COLUMNS}) using delta {'' if columns else 'partitioned by (k)'} {FEED}")
    lab.run(f"insert into t values {ROWS}")
    view = lab.view("m", "select k, sum(x) as s, count(*) as n from t group by k").build()
    rows = lab.view("r", "select id, x from t where k = 1").build()
    where = lab.rows("describe detail t")[0]["location"]
    frame = lab.session.sql("select id, k, cast(x + 1 as decimal(10,2)) as x from t where id < 4")
    frame.write.format("delta").mode("overwrite").option("overwriteSchema", "true").partitionBy(
        *columns
    ).save(where)
    assert lab.rows("describe detail t")[0]["partitionColumns"] == list(columns)
    view.must_be("incremental")
    rows.must_be("incremental")


def test_columns_with_a_default(lab):
    """Spark copies defaults to tables that are made from them."""
    with_defaults = FEED[:-1] + ", 'delta.feature.allowColumnDefaults' = 'supported')"
    lab.table("d", "id int, k int default 7, s string default 'x'", "(1, 1, 'a')", clauses=with_defaults)
    view = lab.view("over_defaults", "select k, s, count(*) as n from d group by k, s")
    view.must_be("create")
    lab.run("insert into d (id) values (2), (3)", "delete from d where id = 1")
    view.must_be("incremental")
    view.must_be("full", Reason.FULL_REFRESH_REQUESTED, full_refresh=True)


def test_session_that_assigns_strictly(lab):
    """A delta's sums of decimals have more digits than the state's columns."""
    lab.table("amounts", "k int, x decimal(10,2)", "(1, 1.5)")
    view = lab.view("sums", "select k, sum(x) as s from amounts group by k").build()
    lab.engine.session.conf.set("spark.sql.storeAssignmentPolicy", "STRICT")
    lab.run("insert into amounts values (1, 2.25), (2, 1)")
    view.must_be("incremental")


def test_names_without_schema_where_metadata_comes_by_sql(lab):
    lab.table("plain", "id int", "(1)")
    lab.engine = PlainEngine(lab.session, by_sql=True)
    lab.engine.session.sql(f"use {lab.schema}")
    view = lab.view("unqualified", "select id from plain").build()
    lab.run("insert into plain values (2)")
    view.must_be("incremental")


def test_consistency_with_a_subquery_per_row(lab):
    """Spark's optimizer fails on a filter over a UNION with such a subquery."""
    lab.table("tree", "id int, k int", "(1, 1)", "(2, 1)", "(3, null)")
    view = lab.view(
        "latest", "select id, k, (select max(b.id) from tree b where b.k = a.k) as m from tree a"
    ).build()
    test = consistency_sql(lab.engine, view.request)
    assert lab.rows(test) == []
    lab.run(f"update {view.state} set m = 9 where id = 3")
    assert [row.which_diff for row in lab.rows(test)] != []
