"""The public view: created with the state, replaced only if its text, comment or settings changed, and restored."""

from __future__ import annotations

import pytest

from sparkivm.reasons import Reason
from sparkivm.refresh.model.compiled_view import compile_view
from sparkivm.refresh.public_view import public_texts
from sparkivm.refresh.request import StateLayout
from sparkivm.refresh.session.recording_engine import RecordingEngine
from sparkivm.refresh.sources.pins import Pins
from sparkivm.refresh.sources.sources import Sources
from tests.fake_engine.engine import Killed
from tests.fake_engine.lake import View as PublicView
from tests.refresh.conftest import BY_K, one_table
from tests.refresh.lab import Lab, View


def public(lab: Lab, name: str = "m") -> PublicView:
    found = lab.lake.relations[f"shop.{name}"]
    assert isinstance(found, PublicView)
    return found


def replaced(view: View, **options) -> bool:
    result = view.must_be(*options.pop("wanted", ("incremental",)), **options)
    return any(text.startswith("create or replace view") for text in result.statements)


def test_appended_entries_need_no_other_view(lab, view):
    """The view already adds up entries."""
    before = public(lab)
    for i in range(20):  # more than the number of appends before entries are folded
        lab.run(f"insert into t values ({i}, {i % 3}, {i})")
        assert not replaced(view)
    assert public(lab) == before


def test_a_large_state_is_read_without_adding_up(lab):
    lab.resize("m__ivm", 20 << 20)
    view = lab.view("m", BY_K).build()
    assert "group by" not in public(lab).text
    lab.resize("m__ivm", 100)
    lab.run("insert into t values (4, 3, 8)")
    assert view.must_be("incremental").apply_form == "rewrite", "the view would show two rows of a group"


def test_another_text_of_the_query_is_another_view(lab, view):
    other = lab.view("m", BY_K + " having sum(x) > 2")
    assert replaced(other, wanted=("incremental",))


def altered(view: View) -> str:
    """A statement that changes the view's text and keeps the marker."""
    marker = ", ".join(f"'{name}' = '{value}'" for name, value in public(view.lab).properties.items())
    return f"create or replace view m tblproperties ({marker}) as select 1 as k, 1 as n, 1 as s"


@pytest.mark.parametrize("changed", [False, True], ids=["", "and its source changed"])
@pytest.mark.parametrize("change", ["dropped", "altered"])
def test_a_view_that_somebody_dropped_or_changed_comes_back(lab, view, change, changed):
    lab.run("drop view m" if change == "dropped" else altered(view))
    if changed:
        lab.run("insert into t values (4, 3, 8)")
    assert replaced(view, wanted=("incremental",) if changed else ("no_op",))
    assert view.must_be("no_op").statements == ()


def test_over_several_entries_no_text_stays_that_does_not_add_them_up(lab, view):
    large = one_table()
    large.resize("m__ivm", 20 << 20)
    text = public(view.on(large).build().lab).text
    lab.run("insert into t values (4, 1, 8)")
    view.must_be("incremental")
    assert view.frontier().several
    marker = ", ".join(f"'{name}' = '{value}'" for name, value in public(lab).properties.items())
    lab.run(f"create or replace view m tblproperties ({marker}) as {text}")
    assert replaced(view, wanted=("no_op",))
    assert "group by" in public(lab).text


def test_a_comment_is_written_where_it_changed(lab):
    view = lab.view("m", BY_K, comment="It's mine").build()
    assert public(lab).comment == "It's mine"
    assert view.must_be("no_op").statements == ()
    assert replaced(view, wanted=("no_op",), comment="other")
    assert public(lab).comment == "other"
    assert view.must_be("no_op", comment="other").statements == ()


def test_settings_are_kept_with_the_view(lab, view):
    """Spark reads a view's text under the settings with which it was created."""
    lab.engine.set({"spark.sql.session.timeZone": "Asia/Tokyo"})
    assert replaced(view, wanted=("full", Reason.CONFIG_CHANGED))
    assert public(lab).settings["spark.sql.session.timeZone"] == "Asia/Tokyo"


def test_types_of_before_do_not_stay_after_a_death(lab):
    """Spark casts the results of a view's text to the columns with which the view was created."""
    lab.table("u", "k int, x int", "(1, 5)")
    view = lab.view("kept", "select k, x from u").build()
    lab.run("create or replace table u using delta as select k, cast(x as bigint) + 3000000000 as x from u")
    lab.engine.is_killed("create or replace view", "before")
    with pytest.raises(Killed):
        view.refresh()
    again = view.on(lab.another())
    assert again.must_be("no_op").statements
    assert [f.type for f in public(lab, "kept").fields] == ["int", "bigint"]
    assert again.refresh().statements == ()


@pytest.mark.parametrize("text", ["select k from t", "select k, 'm__ivm' as x from t"])
def test_a_plain_view_by_the_name_of_a_former_model_stays(lab, view, text):
    lab.run(f"create or replace view m as {text}")
    assert "view" not in view.drop()
    assert not lab.has("m__ivm")
    assert len(lab.rows("select * from m")) == 3


def test_a_query_that_becomes_a_group_view_appends_like_a_new_one(lab):
    lab.view("m", "select k, x from t").build()
    view = lab.view("m", BY_K)
    view.must_be("full", Reason.QUERY_CHANGED)
    lab.run("insert into t values (4, 3, 8)")
    assert view.must_be("incremental").apply_form == "append"


def test_types_that_the_state_does_not_have(lab):
    """Iceberg has no SMALLINT. The view has the types of the query."""
    request = lab.view(
        "m", "select cast(k as smallint) as k from t", layout=StateLayout(file_format="iceberg")
    ).request
    engine = RecordingEngine(lab.engine)
    compiled = compile_view(engine, Sources.of(engine, Pins(), request), request)
    for text in public_texts(compiled, request):
        assert text.lower().startswith("select cast(`k` as smallint) as `k`")
