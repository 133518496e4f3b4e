"""`stamp_columns`: a row keeps the literal of the run that inserted or last changed it."""

from __future__ import annotations

import pytest

from sparkivm.engine import EngineError
from sparkivm.reasons import Reason
from sparkivm.refresh.request import StateLayout
from tests.refresh.lab import Lab, View, refused

STAMP = "cast('2024-01-0{run} 12:00:00' as timestamp) as loaded_at"
ROWS = f"select id, x, {STAMP}, '{{run}}' as run from t"
GROUPS = f"select k, sum(x) as s, {STAMP}, '{{run}}' as run from t group by k"
LARGE = 20 << 20  # bytes of a state of which a part is replaced


@pytest.fixture
def lab() -> Lab:
    lab = Lab()
    lab.table("t", "id int, k int, x int", "(1, 1, 1)", "(2, 1, 2)", "(3, 2, 4)")
    return lab


def in_run(lab: Lab, run: int, sql: str, **options: object) -> View:
    options = {"stamp_columns": ("run",), **options}
    return lab.view("m", sql.replace("{run}", str(run)), **options)


def stamps(lab: Lab, key: str) -> dict[object, str]:
    return dict(lab.rows(f"select {key}, run from m"))


CHANGES = ("insert into t values (4, 3, 8)", "update t set x = 5 where id = 3", "delete from t where id = 1")


@pytest.mark.parametrize("size", [None, LARGE], ids=["small", "large"])
def test_rows(lab, size):
    in_run(lab, 1, ROWS).build()
    lab.resize("m__ivm", size)
    lab.run(*CHANGES)
    assert in_run(lab, 2, ROWS).refresh().mode == "incremental"
    assert stamps(lab, "id") == {2: "1", 3: "2", 4: "2"}
    lab.run("insert into t values (5, 3, 8)")
    result = in_run(lab, 3, ROWS).refresh()
    assert result.apply_form == "append"
    assert stamps(lab, "id") == {2: "1", 3: "2", 4: "2", 5: "3"}


@pytest.mark.parametrize("size", [None, LARGE], ids=["small", "large"])
def test_groups(lab, size):
    in_run(lab, 1, GROUPS).build()
    lab.resize("m__ivm", size)
    lab.run(*CHANGES, "insert into t values (9, 1, 1)")
    assert in_run(lab, 2, GROUPS).refresh().mode == "incremental"
    assert lab.rows("select k, s, run from m order by k") == [(1, 3, "1"), (2, 5, "2"), (3, 8, "2")]
    lab.run(
        "delete from t where k = 2", "insert into t values (7, 2, 5)", "update t set x = x + 1 where k = 1"
    )
    in_run(lab, 3, GROUPS).refresh()
    assert stamps(lab, "k") == {1: "3", 2: "2", 3: "2"}


def test_the_columns_that_are_not_named_are_of_the_last_run(lab):
    sql = ROWS.replace("'{run}' as run", "'{run}' as run, '{run}' as last")
    in_run(lab, 1, sql, stamp_columns=("RUN", "loaded_at")).build()
    lab.run("insert into t values (4, 3, 8)")
    in_run(lab, 2, sql, stamp_columns=("run", "Loaded_at")).refresh()
    found = lab.rows("select id, day(loaded_at), run, last from m order by id")
    assert found == [(1, 1, "1", "2"), (2, 1, "1", "2"), (3, 1, "1", "2"), (4, 2, "2", "2")]


def test_another_run_without_changes_does_nothing(lab):
    both = {"stamp_columns": ("run", "loaded_at")}
    in_run(lab, 1, ROWS, **both).build()
    result = in_run(lab, 2, ROWS, **both).refresh()
    assert (result.mode, result.statements) == ("no_op", ())


def test_explain_shows_the_stamp(lab):
    assert "__ivm_stamp_1: stamp, now '7'" in in_run(lab, 7, ROWS).explain()


def test_a_rebuild_stamps_all_rows(lab):
    in_run(lab, 1, ROWS).build()
    assert in_run(lab, 2, ROWS, full_refresh=True).refresh().mode == "full"
    assert set(stamps(lab, "id").values()) == {"2"}


def test_costs_never_cause_a_rebuild(lab):
    for name in ("t", "m__ivm"):
        lab.resize(name, LARGE)
    in_run(lab, 1, ROWS, refresh_mode="auto").build()
    lab.run("update t set x = x + 1 where id < 3")
    lab.says_many("t", 10_000_000)
    assert in_run(lab, 2, ROWS, refresh_mode="auto").refresh().mode == "incremental"
    assert stamps(lab, "id") == {1: "2", 2: "2", 3: "1"}


@pytest.mark.parametrize("before", [("run",), ()])
def test_other_stamp_columns_rebuild_the_view(lab, before):
    in_run(lab, 1, ROWS, stamp_columns=before).build()
    result = in_run(lab, 1, ROWS, stamp_columns=("loaded_at",)).refresh()
    assert (result.mode, result.fallback.reason) == ("full", Reason.CONFIG_CHANGED)
    assert "stamp_columns changed" in str(result.fallback)


@pytest.mark.parametrize("sql", [ROWS, GROUPS])
def test_the_consistency_test_compares_the_other_columns(lab, sql):
    in_run(lab, 1, sql).build()
    lab.run(*CHANGES)
    in_run(lab, 2, sql).refresh()
    other = in_run(lab, 3, sql)
    assert lab.rows(other.consistency_sql()) == []


def test_a_view_over_it_follows_the_stamps(lab):
    in_run(lab, 1, ROWS).build()
    above = lab.view("above", "select run, count(*) as n from m group by run").build()
    lab.run(*CHANGES)
    in_run(lab, 2, ROWS).refresh()
    above.must_be("incremental")
    assert sorted(lab.rows("select run, n from above")) == [("1", 1), ("2", 2)]


@pytest.mark.parametrize(
    ("sql", "columns", "what"),
    [
        (ROWS, ("nothing",), "nothing of stamp_columns is not a column"),
        (ROWS, ("x",), "x of stamp_columns is not the same literal in each row"),
        (f"select distinct k, {STAMP} from t", ("loaded_at",), "not the same literal"),
        (
            f"select k, {STAMP} from t union all select x, {STAMP} from t",
            ("loaded_at",),
            "not the same literal",
        ),
        ("select k, '{run}' as run, count(*) as n from t group by all", ("n",), "not the same literal"),
        (ROWS + " order by x limit 2", ("run",), "cannot be combined with LIMIT or a window"),
        (
            "select k, rank() over (order by sum(x)) as r, '{run}' as run from t group by k",
            ("run",),
            "cannot be combined with LIMIT or a window",
        ),
        (
            "select id, '{run}' as run from t order by x",
            ("run",),
            "ORDER BY reads a value that is not a column",
        ),
        ("select map(id, x) as m, '{run}' as run from t", ("run",), "Spark does not compare m"),
        ("select id, '{run}' as run, rand() as r from t", ("run",), "the view is not incremental"),
    ],
)
def test_what_is_refused(lab, sql, columns, what):
    assert what in refused(in_run(lab, 1, sql, stamp_columns=columns))
    assert lab.names() == ["t"]


def test_a_column_of_the_layout_is_refused(lab):
    layout = StateLayout(partition_by=("run",))
    assert "partition_by" in refused(in_run(lab, 1, ROWS, layout=layout))


def test_a_plan_that_spark_cannot_compute_is_an_error(lab):
    """The model's own text would have no stamps."""
    view = in_run(lab, 1, GROUPS)
    lab.engine.fails("create or replace table", "[INTERNAL_ERROR] a bug")
    with pytest.raises(EngineError, match="a bug"):
        view.refresh()
