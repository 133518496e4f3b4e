"""States that somebody altered or whose files are lost: the next refresh notices, and rebuilds them."""

from __future__ import annotations

from pathlib import Path

import pytest

from sparkivm.errors import ModelError
from sparkivm.reasons import Reason
from sparkivm.refresh.operations.consistency import consistency_sql
from sparkivm.refresh.request import StateLayout
from tests.nightly import few_of
from tests.plain_engine import PlainEngine
from tests.spark.lab import Lab, View

pytestmark = pytest.mark.spark

MAPPED = {"delta.columnMapping.mode": "name", "delta.enableTypeWidening": "true"}


@pytest.fixture(scope="module", params=few_of([False, True], [False]), ids=["session", "by_sql"])
def lab(spark, request):
    lab = Lab(spark, f"altered_{'sql' if request.param else 'session'}")
    lab.engine = PlainEngine(spark, by_sql=request.param)
    lab.engine.session.sql(f"use {lab.schema}")
    lab.table("t", "id int, a int, b int", "(1, 10, 20)", "(2, 30, 40)")
    yield lab
    lab.run(f"drop schema {lab.schema} cascade")


@pytest.fixture(scope="module")
def view(lab) -> View:
    return lab.view("m", "select id, a, b from t", layout=StateLayout(tblproperties=MAPPED)).build()


def alter(view: View, *changes: str) -> None:
    view.lab.run(*(f"alter table {view.state} {change}" for change in changes))


CHANGES = {
    "renamed into each other": ("rename column a to x", "rename column b to a", "rename column x to b"),
    "made again": ("drop column b", "add columns (b int)"),
    "renamed": ("rename column b to c",),
    "dropped": ("drop column b",),
    "one more": ("add columns (more int)",),
    "another type": ("alter column a type bigint",),
    "another order": ("alter column b first",),
}


@pytest.mark.parametrize("name", few_of(CHANGES, ["renamed into each other", "made again"]))
def test_a_state_with_other_columns_is_rebuilt(lab, view, name):
    alter(view, *CHANGES[name])
    view.must_be("full", Reason.STATE_MODIFIED)


@pytest.mark.nightly
def test_it_is_so_after_a_refresh_from_changes_and_before_one(lab, view):
    lab.run("insert into t values (3, 50, 60)")
    view.must_be("incremental")
    alter(view, "rename column a to x", "rename column b to a", "rename column x to b")
    lab.run("delete from t where id = 3")
    view.must_be("full", Reason.STATE_MODIFIED)


@pytest.mark.nightly
def test_comments_of_its_columns_are_free(lab, view):
    for _ in range(2):  # after a rebuild, and after a refresh from changes
        alter(view, "alter column a comment 'mine'", "alter column b comment 'mine too'")
        view.must_be("no_op")
        lab.run("insert into t values (4, 70, 80)")
        view.must_be("incremental")
    lab.run("delete from t where id = 4")
    view.must_be("incremental")


def test_columns_of_any_type_are_left_alone(lab, view):
    """A table reports the types with which it was created."""
    lab.table(
        "types",
        "id int, c char(3), v varchar(4), d decimal(12,3), s struct<a: char(2), b: array<int>>, "
        "m map<string,int>, n timestamp_ntz, y binary, f float",
        "(1, 'a', 'b', 1.5, struct('x', array(1)), map('k', 1), timestamp_ntz'2024-01-01 00:00:00', x'00', 1.5)",
    )
    for name, sql in (
        ("rows", "select *, null as nothing from types"),
        (
            "groups",
            "select c, s, max(v) as v, sum(d) as d, max(struct(id, n)) as x, avg(f) as f from types group by c, s",
        ),
    ):
        made = lab.view(name, sql)
        assert made.refresh().mode == "create"
        assert made.refresh().mode == "no_op"
        lab.run("insert into types select id + 1, c, v, d, s, m, n, y, f from types limit 1")
        for mode in ("incremental", "no_op"):
            result = made.refresh()
            assert (result.mode, result.fallback) == (mode, None), name


def state_files(view: View) -> list[Path]:
    """The files of a state. Removes their local checksums, which Hadoop would verify."""
    place = Path(view.lab.rows(f"describe detail {view.state}")[0]["location"].removeprefix("file:"))
    for checksum in place.rglob(".*.parquet.crc"):
        checksum.unlink()
    return [
        Path(row[0].removeprefix("file:"))
        for row in view.lab.rows(f"select distinct input_file_name() from {view.state}")
    ]


def lost(file: Path) -> None:
    file.unlink()


def empty(file: Path) -> None:
    file.write_bytes(b"")


def cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-1])


@pytest.mark.parametrize(
    ("damage", "sql"),
    few_of(
        [
            (lost, "select id, a from t"),
            (cut, "select a, count(*) as n from t group by a"),
            (empty, "select a, max(b) as b from t group by a"),
        ],
        [(lost, "select id, a from t")],
    ),
    ids=["lost_then_appended", "cut_then_entries_appended", "empty_then_rewritten"],
)
def test_a_refresh_that_writes_notices_a_lost_file(lab, view, damage, sql):
    made = lab.view("damaged", sql)
    made.refresh(full_refresh=True)
    damage(state_files(made)[0])
    assert "files of altered" in refused_test(made)
    lab.run("insert into t values (9, 1, 1)")
    made.must_be("full", Reason.REFRESH_FAILED)
    consistency_sql(lab.engine, made.request)


def refused_test(view: View) -> str:
    with pytest.raises(ModelError) as raised:
        consistency_sql(view.lab.engine, view.request)
    return str(raised.value)
