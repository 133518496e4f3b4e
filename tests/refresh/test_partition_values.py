"""States that are partitioned: by which columns, and by which values.

Delta stores an empty text in a partition column as NULL (tests/spark/test_protocol.py shows it).
"""

from __future__ import annotations

import pytest

from sparkivm.errors import ModelError
from sparkivm.refresh.request import StateLayout
from tests.refresh.lab import Lab, refused

BY_TEXT = StateLayout(partition_by=("name",))


@pytest.fixture
def lab() -> Lab:
    lab = Lab()
    lab.table("t", "id int, name string, x int", "(1, 'a', 1)", "(2, 'b', 2)", "(3, null, 3)")
    return lab


@pytest.mark.parametrize(
    ("sql", "large", "form"),
    [
        ("select name, count(*) as n from t group by name", False, "append"),
        ("select name, max(x) as m from t group by name", False, "rewrite"),
        ("select name, max(x) as m from t group by name", True, "replace"),
        ("select id, name from t", False, "append"),
    ],
)
def test_an_empty_text_is_an_error(lab, sql, large, form):
    view = lab.view("v", sql, layout=BY_TEXT).build()
    if large:
        lab.resize("v__ivm", 100 << 20)
    lab.run("insert into t values (4, 'c', 4)")
    assert view.must_be("incremental").apply_form == form
    before = view.content()
    lab.run("insert into t values (5, '', 5)")
    assert "partitioned by name" in refused(view)
    assert view.content() == before
    lab.run("delete from t where name = ''")
    view.must_be("incremental")


def test_a_view_over_rows_with_an_empty_text_is_not_created(lab):
    lab.run("insert into t values (5, '', 5)")
    view = lab.view("v", "select id, name from t", layout=BY_TEXT)
    assert "partitioned by name" in refused(view)
    assert not lab.has("v__ivm")
    lab.view("v", "select id, nullif(name, '') as name from t", layout=BY_TEXT).build()
    lab.view("w", "select id, name from t", layout=StateLayout(partition_by=("id",))).build()


@pytest.mark.parametrize(
    ("sql", "wanted", "column"),
    [
        ("select name as label, count(*) as n from t group by name", "Label", "name"),
        ("select label, count(*) as n from (select name as label from t) group by label", "label", "name"),
        ("select name as label, count(*) as n from t group by name", "name", "name"),
        ("select distinct x as y from t", "y", "x"),
        ("select id, x as y from t", "y", "y"),
        ("select upper(name) as label, count(*) as n from t group by upper(name)", "label", "label"),
    ],
)
@pytest.mark.parametrize("option", ["partition_by", "liquid_clustered_by"])
def test_the_layout_names_columns_of_the_view(lab, sql, wanted, column, option):
    created = lab.view("v", sql, layout=StateLayout(**{option: (wanted,)})).refresh()
    (statement,) = (text for text in created.statements if "create or replace table" in text)
    assert f"by (`{column}`)" in statement


def test_a_column_that_the_state_does_not_have(lab):
    sql = "select name as label, count(*) as n, max(x) + 1 as m from t group by name"
    for wanted in ("m", "missing"):
        error = refused(lab.view("v", sql, layout=StateLayout(partition_by=(wanted,))))
        assert f"partition_by names {wanted}" in error
        assert "name one of label" in error
    assert not lab.has("v__ivm")


def test_names_of_a_change_feed(lab):
    """A table with a feed cannot have them, and each state has one."""
    lab.table("bronze", "id int, _commit_version int", "(1, 1)", clauses="")
    error = refused(lab.view("v", "select * from bronze"))
    assert "_commit_version" in error
    assert "another name" in error
    lab.view("w", "select _commit_version as v, count(*) as n from bronze group by 1").build()


TWICE = (
    "select label, count(*) as n from (select name as label, sum(x) as s from t group by name) group by label"
)
WRONG = {
    "partition_by": (TWICE, StateLayout(partition_by=("day",)), "partition_by names day"),
    "liquid_clustered_by": (TWICE, StateLayout(liquid_clustered_by=("day",)), "liquid_clustered_by names day"),
    "not incremental": ("select rand() as r", StateLayout(partition_by=("day",)), "partition_by names day"),
    "reserved name": (
        "select label as _change_type from (select name as label from t)", StateLayout(), "_change_type",
    ),
    "catalog": (TWICE, StateLayout(file_format="iceberg"), "spark_catalog cannot have Iceberg tables"),
}  # fmt: skip


@pytest.mark.parametrize("wrong", WRONG)
def test_a_layout_that_the_state_cannot_have_changes_nothing(lab, wrong):
    """No auxiliary view is built, and no source is altered."""
    lab.run("alter table t set tblproperties (delta.enableChangeDataFeed = false)")
    sql, layout, message = WRONG[wrong]
    view = lab.view("v", sql, layout=layout, auxiliary_views="always")
    before = lab.version("t"), lab.names()
    lab.engine.ran.clear()
    with pytest.raises(ModelError, match=message):
        view.explain()
    assert message in refused(view)
    assert lab.engine.ran == []
    assert (lab.version("t"), lab.names()) == before
