"""Change logs as sources: a view reads the table that a log describes."""

from __future__ import annotations

import pytest

from sparkivm.changes.source_declaration import DeclaredSources
from sparkivm.errors import DeclarationError, ModelError
from sparkivm.explain.explain_view import explain_view
from sparkivm.refresh.operations.consistency import consistency_sql
from tests.spark.lab import Lab, View, surplus

pytestmark = pytest.mark.spark

ENVELOPE = (
    "op string, ts_ms bigint, source struct<lsn: bigint>, before struct<id: int, k: int, x: decimal(10,2)>, "
    "after struct<id: int, k: int, x: decimal(10,2)>"
)
DEBEZIUM = {"key": ["id"], "change_log": {"format": "debezium", "order": ["ts_ms", "source.lsn"]}}


@pytest.fixture
def lab(spark):
    lab = Lab(spark, "change_logs")
    yield lab
    lab.run("drop schema change_logs cascade")


def view_over(lab: Lab, meta: object, sql: str, name: str = "m", log: str = "log") -> View:
    return lab.view(name, sql, declared=DeclaredSources(metas={f"{lab.schema}.{log}": meta}))


def agrees(view: View, truth: str) -> None:
    """Compare with a query over a table that went through the same changes."""
    found = view.lab.rows(f"select 1, * from {view.name} union all select -1, * from ({truth})")
    assert not surplus(found), f"{view.name} differs from {truth}"


def is_consistent(view: View) -> None:
    """Compare with its own SELECT over the log."""
    request = view.request
    assert view.lab.rows(consistency_sql(view.lab.engine, request)) == []


def entry(op: str, at: int, before: str = "", after: str = "") -> str:
    images = [
        f"named_struct('id', {i[0]}, 'k', {i[1]}, 'x', {i[2]})" if i else "null"
        for i in (before.split(), after.split())
    ]
    return f"('{op}', {at // 2}, named_struct('lsn', {at}), {images[0]}, {images[1]})"


@pytest.mark.nightly
def test_debezium(lab):
    lab.table(
        "log",
        ENVELOPE,
        entry("r", 0, "", "1 1 1.5"),
        entry("r", 0, "", "2 1 2.5"),
        entry("c", 2, "", "3 2 4"),
    )
    lab.table("names", "k int, name string", "(1, 'one')", "(2, 'two')")
    lab.table("truth", "id int, k int, x decimal(10,2)", "(1, 1, 1.5)", "(2, 1, 2.5)", "(3, 2, 4)")
    sums = view_over(
        lab,
        DEBEZIUM,
        f"select k, count(*) as n, sum(x) as s, max(x) as m from {lab.schema}.log group by k",
        "sums",
    )
    rows_sql = "select l.id, l.x, n.name from {} as l left join names n on l.k = n.k"
    rows = view_over(lab, DEBEZIUM, rows_sql.format(f"{lab.schema}.log"), "rows")

    def both_agree() -> None:
        agrees(sums, "select k, count(*), sum(x), max(x) from truth group by k")
        agrees(rows, rows_sql.format("truth"))

    assert [view.refresh().mode for view in (sums, rows)] == ["create", "create"]
    both_agree()
    changes = (
        entry("u", 5, "1 1 1.5", "1 2 7"), entry("d", 6, "2 1 2.5"), entry("d", 8, "3 2 4"), entry("c", 9, "", "3 1 1"),
        entry("u", 4, "1 1 1.5", "1 1 9"),  # late
        entry("m", 10), entry("c", 11, "", "4 3 3"), entry("d", 12, "4 3 3"),
    )  # fmt: skip
    lab.run(
        f"insert into log values {', '.join(changes)}",
        "update names set name = 'zwei' where k = 2",
        "delete from truth where id > 1", "insert into truth values (3, 1, 1)", "update truth set k = 2, x = 7 where id = 1",
    )  # fmt: skip
    assert [view.refresh().mode for view in (sums, rows)] == ["incremental", "incremental"]
    both_agree()
    for view in (sums, rows):
        is_consistent(view)
    assert "next refresh: no_op" in explain_view(lab.engine, sums.request)
    assert sums.refresh().explanation == "no source changed"

    lab.run("delete from log where op in ('r', 'm') or source.lsn in (4, 11)")  # outdated entries
    assert sums.refresh().mode == "incremental"
    agrees(sums, "select k, count(*), sum(x), max(x) from truth group by k")

    lab.run(f"insert into log values {entry('t', 20)}")
    with pytest.raises(DeclarationError, match="operation t, which is not declared"):
        sums.refresh()
    agrees(sums, "select k, count(*), sum(x), max(x) from truth group by k")


def test_feed_of_another_table(lab):
    """A copied feed, with an update of the key and a key that goes and comes back in one commit."""
    lab.table("t", "id int, x string", "(1, 'a')", "(2, 'b')", "(3, 'c')", "(4, null)")
    lab.run("create table log using delta as select * from table_changes('t', 1)")
    meta = {"key": "id", "change_log": "delta"}
    view = view_over(lab, meta, f"select * from {lab.schema}.log where id < 10")
    result = view.refresh()  # a table with columns of these names cannot have its own feed
    assert (result.mode, len(result.warnings)) == ("create", 1)
    agrees(view, "select * from t where id < 10")
    lab.run(
        "update t set id = 7 where id = 1",
        "insert overwrite t select if(id = 2, 12, id), concat(x, '!') from t",
        "delete from t where x = 'c!'",
        "insert into log select * from table_changes('t', 2, 4)",
    )
    assert view.refresh().mode == "incremental"
    agrees(view, "select * from t where id < 10")


def test_log_in_files(lab):
    """The log has a mirror, and the view reads the table that the mirror describes."""
    lab.run(
        "create table log using json as select * from values (1, 'i', 1, 'a'), (2, 'i', 2, 'b') as v (seq, op, id, x)"
    )
    meta = {"key": "id", "change_log": {"order": "seq", "columns": ["id", "x"]}}
    view = view_over(lab, meta, f"select x, count(*) as n from {lab.schema}.log group by x")
    assert view.refresh().mode == "create"
    lab.run("insert into log values (3, 'u', 1, 'b'), (4, 'd', 2, 'b')")
    result = view.refresh()
    assert result.mode == "incremental"
    assert [tuple(row) for row in lab.rows("select * from m")] == [("b", 1)]
    assert result.sources[0].name == f"{lab.schema}.log"


def test_mistakes(lab):
    lab.table("log", ENVELOPE, entry("r", 0, "", "1 1 1.5"))
    sql = f"select id from {lab.schema}.log"

    def error(meta: object, sql: str = sql) -> str:
        with pytest.raises((DeclarationError, ModelError)) as caught:
            view_over(lab, meta, sql).refresh()
        return str(caught.value)

    assert "the log has no column lsn" in error(
        {"key": "id", "change_log": {"format": "debezium", "order": "lsn"}}
    )
    assert "the log has no column image.*" in error(
        {"key": "id", "change_log": {"format": "debezium", "after": "image"}}
    )
    assert "the key nr is not a column" in error(
        {"key": "nr", "change_log": {"format": "debezium", "before": None}}
    )
    assert "the log has no column before.nr" in error({"key": "nr", "change_log": "debezium"})
    assert "no versions" in error(DEBEZIUM, f"select * from {lab.schema}.log version as of 1")
    assert "Spark refuses" in error(DEBEZIUM, f"select op from {lab.schema}.log")
    broken = f"select id from {lab.schema}.log where"
    assert "its tables cannot be determined" in error(DEBEZIUM, broken)
    lab.view("plain", f"select op from {lab.schema}.log").must_be("create")
