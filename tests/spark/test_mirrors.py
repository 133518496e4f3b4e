"""Sources without a history of their own: their mirrors are compared with them once in a run."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from sparkivm.changes.source_declaration import DeclaredSources
from sparkivm.errors import DeclarationError
from sparkivm.explain.explain_view import explain_view
from sparkivm.formats.delta_states import DELTA_STATES
from sparkivm.names import TableName
from sparkivm.reasons import Reason
from sparkivm.refresh.operations.capture_changes import capture_changes
from sparkivm.refresh.operations.consistency import consistency_sql
from sparkivm.refresh.sources.pins import Pins
from tests.plain_engine import PlainEngine
from tests.spark.lab import Lab, View, refused
from tests.spark.test_two_drivers import overtaken

pytestmark = pytest.mark.spark

_NUMBER = itertools.count()
BY_K = "select k, count(*) as n, sum(x) as s from p group by k"


@pytest.fixture
def lab(spark) -> Lab:
    return Lab(spark, f"mirrors_{next(_NUMBER)}")


def declared(lab: Lab, **metas) -> DeclaredSources:
    """`p={…}` is the meta.sparkivm of the table p."""
    return DeclaredSources(lab.schema, {f"{lab.schema}.{name}": meta for name, meta in metas.items()})


def mirror(lab: Lab, name: str = "p") -> set[tuple]:
    """What changed in the newest version of a mirror, without images of before."""
    name = f"{name}__ivm_mirror"
    version = lab.version(name)
    rows = lab.rows(
        f"select * except (_commit_version, _commit_timestamp) from table_changes('{name}', {version})"
    )
    return sorted((tuple(row) for row in rows), key=repr)


class Csv:
    """A directory of CSV files that others write."""

    def __init__(self, lab: Lab, directory: Path, columns: str) -> None:
        self._lab, self._directory = lab, directory
        directory.mkdir()
        lab.run(f"create table p ({columns}) using csv options (header false) location '{directory}'")

    def write(self, name: str, *lines: str) -> None:
        (self._directory / name).write_text("".join(line + "\n" for line in lines))
        self._lab.run("refresh table p")

    def delete(self, name: str) -> None:
        (self._directory / name).unlink()
        self._lab.run("refresh table p")


def test_files_that_come_change_and_go(lab, tmp_path):
    """One mirror for two views; copies and NULLs; what is unchanged makes no commit."""
    files = Csv(lab, tmp_path / "p", "id int, k int, x double")
    files.write("a.csv", "1,1,1.5", "1,1,1.5", "1,1,1.5", "2,,", "2,,", "3,2,NaN", "4,2,1")
    lab.table("names", "k int, name string", "(1, 'one')", "(2, 'two')")
    sums = lab.view("sums", BY_K)
    rows = lab.view("rows", "select p.id, p.x, n.name from p left join names n on p.k = n.k")
    pins = Pins()
    first, second = sums.refresh(pins), rows.refresh(pins)
    assert (first.mode, second.mode, second.fallback) == ("create", "create", None)
    assert "p__ivm_mirror mirrors it" in first.warnings[0]
    assert not second.warnings
    assert lab.version("p__ivm_mirror") == 0
    for view in (sums, rows):
        view.check()
        assert view.must_be("no_op").explanation == "no source changed"
    assert lab.version("p__ivm_mirror") == 0

    # one copy of three less, one of two more, a new value, one that is gone, one that changed
    files.write("a.csv", "1,1,1.5", "1,1,1.5", "2,,", "2,,", "2,,", "3,2,NaN", "4,2,2")
    files.write("b.csv", "5,3,1", "5,3,1")
    pins = Pins()
    first, second = sums.refresh(pins), rows.refresh(pins)
    assert (first.mode, second.mode) == ("incremental", "incremental")
    assert first.sources[0].name == f"{lab.schema}.p"
    assert (first.sources[0].from_version, first.sources[0].to_version) == (0, 1)
    assert not any("mirror" in statement for statement in second.statements if "merge" in statement)
    for view in (sums, rows):
        view.check()
    assert "(3," not in str(mirror(lab))

    files.delete("b.csv")
    sums.must_be("incremental")
    files.write("b.csv", "6,1,7")  # nothing but new rows: an append
    rows.must_be("incremental")
    assert lab.rows("describe history p__ivm_mirror limit 1")[0].operation == "WRITE"


def test_columns_of_a_file_change(lab, tmp_path):
    files = Csv(lab, tmp_path / "p", "id int, k int, x int")
    files.write("a.csv", "1,1,1", "2,1,2")
    view = lab.view("m", BY_K).build()
    again = f"using csv options (header false) location '{tmp_path / 'p'}'"
    lab.run("drop table p", f"create table p (id int, k int, x int, extra string) {again}")
    files.write("a.csv", "1,1,1,a", "2,1,2,b", "3,2,3,c")
    view.must_be("incremental")
    lab.run("drop table p", f"create table p (id int, k int, x bigint, extra string) {again}")
    view.must_be("full", Reason.SOURCE_SCHEMA_CHANGED)
    view.check_columns()


def test_by_key(lab):
    lab.run(
        "create table p using parquet as select * from values (1, 1, 1), (2, 1, null), (3, 2, 4), (null, 2, 8) as v (id, k, x)"
    )
    meta = {"key": "ID", "mirror": {"name": "copy_of_p", "retention": "60 days"}}
    view = lab.view("m", BY_K, declared=declared(lab, p=meta)).build()
    properties = dict(lab.rows("show tblproperties copy_of_p"))
    assert properties["delta.logRetentionDuration"] == "interval 60 days"
    lab.run(
        "insert overwrite p select * from values (1, 1, 1), (2, 1, 5), (null, 3, 8), (7, null, 2) as v (id, k, x)"
    )
    assert not view.must_be("incremental").warnings
    changes = lab.rows("select _change_type, id from table_changes('copy_of_p', 1)")
    assert sorted(map(tuple, changes), key=repr) == sorted(
        [
            ("delete", 3),
            ("insert", 7),
            ("update_postimage", 2),
            ("update_postimage", None),
            ("update_preimage", 2),
            ("update_preimage", None),
        ],
        key=repr,
    )
    lab.run("insert into p values (1, 1, 9)")  # the key is not unique
    assert "declared as its key; we compare whole rows instead" in view.must_be("incremental").warnings[0]
    lab.run("insert overwrite p select * from values (1, 1, 9) as v (id, k, x)")
    view.must_be("incremental")
    with pytest.raises(DeclarationError, match="is not a column"):
        view.refresh(declared=declared(lab, p={"key": "nr"}))


FORMATS = {
    "orc": "create table orc_table using orc as select 1 as k, named_struct('a', array(1, 2)) as x",
    "json": "create table json_table using json as select 1 as k, timestamp '2020-01-01 10:00:00' as x",
    "partitioned": "create table parts_table using parquet partitioned by (k) as select 'a b' as x, 1 as k",
    "jdbc": "create table jdbc_table using jdbc options (url 'jdbc:derby:memory:mirrors;create=true', dbtable 'T', driver 'org.apache.derby.jdbc.EmbeddedDriver')",
}


def test_formats(lab, tmp_path):
    """Also a view of paths, which has no tables to look into."""
    derby(lab, "create table T (k int not null, x varchar(20))", "insert into T values (1, 'one')")
    files = f"insert overwrite directory '{tmp_path / 'files'}' using parquet "
    lab.run(*FORMATS.values(), files + "select 1 as k, date '2020-01-01' as x")
    lab.run(f"create view paths as select k, x from parquet.`{tmp_path / 'files'}` where k < 10")
    names = ("json_table", "parts_table", "jdbc_table", "paths")
    parts = [f"select '{name}' as name, k, cast(x as string) as x from {name}" for name in names]
    view = lab.view(
        "m",
        " union all ".join([*parts, "select 'orc', o.k, cast(get(o.x.a, 1) as string) from orc_table as o"]),
    ).build()
    derby(lab, "update T set x = 'two'", "insert into T values (2, null)")
    lab.run(
        "insert into orc_table values (2, named_struct('a', array(7)))",
        "insert into json_table values (3, null)",
        "insert into parts_table values ('c', 2), ('d', 2)",
        files + "select * from values (2, date '2021-01-01'), (11, null) as v (k, x)",
    )
    result = view.must_be("incremental")
    assert {source.to_version for source in result.sources} == {1}
    assert view.must_be("no_op").explanation == "no source changed"


def derby(lab: Lab, *statements: str) -> None:
    """Write to the database by its own driver."""
    jvm = lab.session._jvm
    jvm.java.lang.Class.forName("org.apache.derby.jdbc.EmbeddedDriver")
    connection = jvm.java.sql.DriverManager.getConnection("jdbc:derby:memory:mirrors;create=true")
    for statement in statements:
        connection.createStatement().execute(statement)
    connection.close()


def test_what_is_not_mirrored(lab):
    lab.run("create table p using parquet as select 1 as k, 2 as x, map('a', 1) as m")
    view = lab.view("m", BY_K)
    result = view.refresh()
    assert result.fallback.reason is Reason.TYPE_NOT_SUPPORTED
    assert "m of" in str(result.fallback)
    view.check()
    lab.run("insert into p values (3, 4, null)")
    lab.engine.session.sql("refresh table p")
    view.must_be("full", Reason.TYPE_NOT_SUPPORTED)
    view.must_be("full", Reason.SOURCE_NOT_SUPPORTED, declared=declared(lab, p={"mirror": False}))
    assert "p__ivm_mirror" not in str(lab.rows("show tables"))

    lab.run("create table q using parquet as select 1 as k", "create table q__ivm_mirror (k int) using delta")
    with pytest.raises(
        DeclarationError, match="q__ivm_mirror, the name of its mirror, is taken by another relation"
    ):
        lab.view("n", "select * from q").refresh()
    assert lab.rows("select * from q__ivm_mirror") == []


def test_a_source_that_is_lost_and_no_longer_read(lab):
    lab.table("t", "k int", "(1)")
    lab.run("create view p as select k from t")
    view = lab.view("m", "select k from p", declared=declared(lab, p={"mirror": True})).build()
    lab.run("drop table t")
    assert "TABLE_OR_VIEW_NOT_FOUND" in refused(view)
    view.with_(sql="select 1 as k").must_be("full", Reason.QUERY_CHANGED)


def test_names_that_delta_refuses(lab):
    lab.run("create table p using json as select 1 as `order id`, named_struct('in cm', 2) as `size (all)`")
    text = "select `order id` as `the id`, max(`size (all)`.`in cm`) as `largest (cm)` from p group by `order id`"
    view = lab.view("m", text).build()
    assert view.must_be("no_op").explanation == "no source changed"
    lab.run("insert into p values (1, named_struct('in cm', 3)), (2, null)")
    view.must_be("incremental")
    lab.run("insert overwrite p values (1, named_struct('in cm', 1)), (1, named_struct('in cm', 0))")
    view.must_be("incremental")
    lab.run(
        "drop table p", "create table p using json as select 1 as `order id`, 5 as `size (all)`, 7 as `x y`"
    )
    over = lab.view("n", "select `order id`, sum(`x y`) as `n n` from p group by `order id`").build()
    lab.run("insert into p values (1, 6, 8)")
    over.must_be("incremental")


@pytest.mark.parametrize("key", [None, "id"])
def test_zero_with_another_sign_is_another_value(lab, key):
    lab.run(
        "create table p (id int, f double) using parquet", "insert into p values (1, -0d), (1, 0d), (2, 1d)"
    )
    if key:
        lab.run("insert overwrite p values (1, -0d), (2, 1d)")
    text = "select id, cast(f as string) as t from p"
    view = lab.view("m", text, declared=declared(lab, p={"key": key} if key else {})).build()
    lab.run("insert overwrite p values (1, 0d), (2, -0d)")
    view.must_be("incremental")
    lab.run("insert overwrite p values (1, 0d), (2, 0d)")
    view.must_be("incremental")


@pytest.fixture
def view(lab) -> View:
    """A view of a parquet table with three rows, of which two are equal."""
    lab.run(
        "create table p using parquet as select * from values (1, 1, 1), (1, 1, 1), (2, 2, 2) as v (id, k, x)"
    )
    return lab.view("m", BY_K).build()


def test_what_happens_to_a_mirror(lab, view):
    """Here as over thrift."""
    lab.engine = PlainEngine(lab.session, by_sql=True)
    lab.engine.session.sql(f"use {lab.schema}")
    name = TableName(lab.schema, "p")
    lab.run("insert into p values (3, 3, 3)")

    # To explain and to test a view leave it alone.
    assert lab.rows(consistency_sql(lab.engine, view.request)) == []
    explained = explain_view(lab.engine, view.request)
    assert "next refresh: no_op" in explained
    assert "p__ivm_mirror, which the next run first compares with it" in explained
    assert "STATE_MISSING" in explain_view(
        lab.engine, lab.view("fresh", "select * from p where k > 1").request
    )
    assert lab.version("p__ivm_mirror") == 0

    # A driver dies between mirror and view: the frontier is a version of the mirror, which is ahead.
    said = capture_changes(lab.engine, name, DeclaredSources(), lab.schema, DELTA_STATES)
    assert "p__ivm_mirror, version 1" in said
    view.must_be("incremental")
    assert lab.version("p__ivm_mirror") == 1

    # Somebody writes to it: it is compared with its source at each run, so that it heals.
    lab.run("delete from p__ivm_mirror where id = 2", "insert into p__ivm_mirror values (9, 9, 9)")
    view.must_be("incremental")
    assert "is dropped" in capture_changes(
        lab.engine, name, DeclaredSources(), lab.schema, DELTA_STATES, remove=True
    )
    view.must_be("full", Reason.SOURCE_REPLACED)


def test_two_drivers_capture_at_once(lab, view):
    lab.run("insert into p values (3, 3, 3)")
    meanwhile = [view.refresh, lambda: lab.run("optimize p__ivm_mirror")]
    assert overtaken(view, lambda: [step() for step in meanwhile]).refresh().mode == "no_op"
    view.check()
    assert lab.version("p__ivm_mirror") <= 2
    assert len(lab.rows("select * from p__ivm_mirror")) == 4

    lab.run("insert overwrite p values (1, 1, 1), (3, 3, 3)")

    def rival() -> None:
        lab.run("insert into p values (5, 5, 5)")
        view.refresh()

    overtaken(view, rival).refresh()
    view.check()
    view.must_be("no_op")
