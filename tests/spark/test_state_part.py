"""Which part of a large state a refresh replaces."""

from __future__ import annotations

import pytest

from tests.spark.lab import Lab, View
from tests.spark.saved_tables import SavedTables
from tests.spark.state_sizes import take_states_for

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def saved(spark, tmp_path_factory) -> SavedTables:
    lab = Lab(spark, "state_part")
    lab.table(
        "t", "id int, name string, x double", "(1, 'a', 1)", "(2, 'b', 2)", "(3, null, 3)", "(3, null, 3)"
    )
    return SavedTables(lab, tmp_path_factory.mktemp("state_part"))


@pytest.fixture
def lab(spark, saved, monkeypatch) -> Lab:
    take_states_for("large", monkeypatch)
    lab = Lab(spark, "state_part")
    saved.put_into(lab)
    return lab


def statement(view: View) -> str:
    """The applying statement of the last refresh."""
    return [sql for sql in view.lab.engine.ran if sql.startswith(("insert", "merge"))][-1]


def form_of_refresh(view: View) -> str:
    return view.must_be("incremental").apply_form


def replaced_part(view: View) -> str:
    """Refresh. Returns the predicate of the replaced part."""
    assert form_of_refresh(view) == "replace"
    return statement(view).splitlines()[0].partition(" replace where ")[2]


def test_a_part_by_a_number(lab):
    view = lab.view("v", "select name, id, x from t").build()
    lab.run("update t set x = 9 where id = 2", "insert into t values (7, 'z', 0)")
    assert replaced_part(view) == "`id` in (2, 7)"


def test_a_part_by_a_string(lab):
    view = lab.view("v", "select name, x from t").build()
    lab.run("update t set x = 9 where id = 2")
    assert replaced_part(view) == "`name` in ('b')"


def test_null_is_a_value_too(lab):
    view = lab.view("v", "select name, x from t").build()
    lab.run("update t set name = 'c' where id = 3")
    assert replaced_part(view) == "`name` in ('c') or `name` is null"


def test_one_of_two_equal_rows_goes(lab):
    view = lab.view("v", "select id, name, x from t where x > 0").build()
    lab.run("delete from t where id = 3", "insert into t values (3, null, 3)")
    assert form_of_refresh(view) == "replace"


def test_a_text_that_cannot_be_written_down_is_merged(lab):
    """The text needs escapes or is not valid UTF-8."""
    view = lab.view("v", "select name, x from t").build()
    for text in (*(f"concat('a', char({ord(c)}), '{{env:HOME}}')" for c in "'\\$"), "cast(x'ff' as string)"):
        lab.run(f"insert into t values (8, {text}, 1)", "update t set x = x + 1 where id = 1")
        assert form_of_refresh(view) == "merge", text


def test_columns_named_like_keywords_or_numbers_are_not_looked_at(lab):
    view = lab.view("v", "select id as `null`, id as `not`, id as `select`, id as `7d`, x from t").build()
    lab.run("delete from t where id = 1")
    assert form_of_refresh(view) == "merge"


def test_columns_of_any_other_name_and_type(lab):
    items = {"a.b": "id", "tiny": "cast(id as tinyint)", "big": "cast(id as bigint)"}
    views = {
        name: lab.view(f"v{number}", f"select {item} as `{name}`, x from t").build()
        for number, (name, item) in enumerate(items.items())
    }
    lab.run("delete from t where id = 1", "insert into t values (-7, 'd', 4)")
    for name, view in views.items():
        assert replaced_part(view) == f"`{name}` in (-7, 1)"


def test_columns_that_cannot_be_written_down_are_merged(lab):
    view = lab.view("v", "select x from t").build()
    lab.run("delete from t where id = 1")
    assert form_of_refresh(view) == "merge"


def test_a_part_that_is_most_of_the_state_is_merged(lab, monkeypatch):
    monkeypatch.setattr("sparkivm.refresh.decide.state_part._SMALL_PART_ROWS", 0)
    view = lab.view("v", "select 1 as one, x from t").build()
    lab.run("insert into t select id, name, 4 + id from t", "insert into t select id, name, 8 + x from t")
    view.must_be("incremental")
    lab.run("update t set x = -1 where id = 2 and x = 2")
    assert form_of_refresh(view) == "merge"


def test_changes_that_cancel_write_nothing(lab):
    view = lab.view("v", "select id, name from t").build()
    lab.run("update t set x = x + 1")
    assert form_of_refresh(view) == "append"
    assert statement(view).endswith("where (false)")
    view.must_be("no_op")


def test_groups_are_told_by_their_key(lab):
    view = lab.view("v", "select id, max(x) as most, count(*) as n from t group by id").build()
    lab.run("delete from t where id = 2", "insert into t values (1, 'a', 5)")
    assert replaced_part(view) == "`id` in (1, 2)"


def test_a_large_state_marks_rows_deleted_and_a_small_one_does_not(lab, monkeypatch):
    view = lab.view("v", "select id, x from t").build()
    lab.run("delete from t where id = 1")
    take_states_for("small", monkeypatch)
    view.must_be("incremental")
    assert "delta.enableDeletionVectors" not in properties(view)
    lab.run("delete from t where id = 2")
    take_states_for("large", monkeypatch)
    view.must_be("incremental")
    assert properties(view)["delta.enableDeletionVectors"] == "true"


def test_views_over_it_follow(lab):
    below = lab.view("below", "select id, name, x from t").build()
    above = lab.view("above", "select name, count(*) as n, min(x) as least from below group by name").build()
    for change in ("update t set x = x - 1 where id = 1", "delete from t where id = 3"):
        lab.run(change)
        assert form_of_refresh(below) == "replace"
        form_of_refresh(above)


def test_nothing_is_left_in_the_session(lab):
    view = lab.view("v", "select id, x from t").build()
    session = lab.engine.session
    before = {"spark.sql.shuffle.partitions": "3", "spark.sql.adaptive.enabled": "true"}
    for name, value in before.items():
        session.conf.set(name, value)
    lab.run("delete from t where id = 1")
    view.must_be("incremental")
    assert lab.engine.settings([*before]) == before
    assert [row.viewName for row in session.sql("show views").collect() if row.isTemporary] == []


def properties(view: View) -> dict[str, str]:
    return {row.key: row.value for row in view.lab.rows(f"show tblproperties {view.state}")}
