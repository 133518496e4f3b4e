"""A clone of another environment's view: its state goes on from the same versions of the sources.

Production builds `m`, `m2`; the clones are `ci_m`, `ci_m2`.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace

import pytest

from sparkivm.engine import EngineError
from sparkivm.errors import ModelError
from sparkivm.reasons import Reason
from sparkivm.refresh.request import StateLayout
from sparkivm.refresh.run.clone import CannotClone
from tests.fake_engine.engine import Killed
from tests.refresh.lab import Lab, View, kinds
from tests.refresh.two_tables import changes, two_tables

GROUPS = "select k, sum(x) as s, count(*) as n, max(x) as m from t group by k"
JOIN = "select t.id, t.x, u.y from t left join u on t.k = u.k"
OVER = {
    "an aggregate": "select s, count(*) as n from {} group by s",
    "a projection": "select k, s + 1 as more from {} where n > 0",
    "a join with itself": "select a.k, b.s from {0} a join {0} b on a.k = b.k",
    "a join with a source": "select m.k, m.s, u.y from {} m left join u on m.k = u.k",
    "a window": "select k, s, row_number() over (order by s, k) as r from {}",
}
NAMES = {"ci_m": "m", "ci_m2": "m2"}  # clone → origin


@pytest.fixture
def lab() -> Lab:
    return two_tables()


@dataclass(frozen=True)
class Layers:
    """Production's view and the view over it, both built; and the clones to be made of them."""

    lower: View
    upper: View
    lower_clone: View
    upper_clone: View

    def clone(self) -> None:
        self.lower_clone.clone_of(self.lower, NAMES)
        self.upper_clone.clone_of(self.upper, NAMES)


def layers(lab: Lab, over: str = OVER["an aggregate"]) -> Layers:
    return Layers(
        lab.view("m", GROUPS).build(),
        lab.view("m2", over.format("m")).build(),
        lab.view("ci_m", GROUPS),
        lab.view("ci_m2", over.format("ci_m")),
    )


class TestOneView:
    @pytest.mark.parametrize("sql", [GROUPS, JOIN])
    def test_goes_on(self, lab, sql):
        lab.view("m", sql).build()
        clone = lab.view("ci_m", sql)
        result = clone.clone_of(lab.view("m", sql))
        assert (result.mode, kinds(result.statements)) == (
            "clone",
            ["create table `shop`.`ci_m__ivm`", "create or replace"],
        )
        clone.check()
        clone.must_be("no_op")
        changes(lab)
        clone.must_be("incremental")
        clone.must_be("no_op")

    def test_goes_on_from_what_its_origin_had(self, lab):
        """The sources changed before the clone was made."""
        origin = lab.view("m", GROUPS).build()
        changes(lab)
        clone = lab.view("ci_m", GROUPS)
        clone.clone_of(origin)
        clone.must_be("incremental")

    def test_an_edited_query_goes_on(self, lab):
        origin = lab.view("m", GROUPS).build()
        clone = lab.view("ci_m", GROUPS.replace(" from", ", sum(x) * 2 as d from"))
        clone.clone_of(origin)
        changes(lab)
        clone.must_be("incremental")

    def test_another_query_is_built(self, lab):
        origin = lab.view("m", GROUPS).build()
        clone = lab.view("ci_m", JOIN)
        clone.clone_of(origin)
        clone.must_be("full", Reason.QUERY_CHANGED)

    def test_a_source_of_another_environment_is_another_source(self, lab):
        origin = lab.view("m", GROUPS).build()
        lab.table("ci_t", "id int, k int, x int", "(1, 1, 1)")
        clone = lab.view("ci_m", GROUPS.replace("from t", "from ci_t"))
        clone.clone_of(origin)
        clone.must_be("full", Reason.QUERY_CHANGED)

    @pytest.mark.parametrize("refreshed", [False, True])
    def test_names_with_blanks(self, lab, refreshed):
        """Delta cannot share such a table's files, so the rows are copied."""
        sql = "select k as `the key`, x from t"
        origin = lab.view("m", sql).build()
        if refreshed:  # its frontier then has the ids of the columns
            changes(lab)
            origin.must_be("incremental")
        clone = lab.view("ci_m", sql)
        clone.clone_of(origin)
        clone.must_be("no_op")
        changes(lab)
        clone.must_be("incremental")

    def test_leaves_its_origin_alone(self, lab):
        origin = lab.view("m", GROUPS).build()
        before = origin.history()
        clone = lab.view("ci_m", GROUPS)
        clone.clone_of(origin)
        clone.refresh()
        clone.drop()
        assert origin.history() == before
        changes(lab)
        origin.must_be("incremental")

    def test_replaces_the_view_that_is_there(self, lab):
        origin = lab.view("m", GROUPS).build()
        changes(lab)
        clone = lab.view("ci_m", JOIN).build()
        clone = lab.view("ci_m", GROUPS)
        clone.clone_of(origin)
        clone.must_be("incremental")

    def test_a_copy_has_the_partitions_of_its_origin(self, lab):
        """The layout names columns of the view, which the state may store under other names."""
        by_label = StateLayout(partition_by=("label",))
        sql = "select k as label, count(*) as n from t group by k"
        origin = lab.view("m", sql, layout=by_label).build()
        clone = lab.view("ci_m", GROUPS).build().with_(sql=sql, layout=by_label)
        (statement, _) = clone.clone_of(origin).statements
        assert "by (`k`)" in statement
        clone.must_be("no_op")

    def test_a_state_with_several_entries(self, lab):
        origin = lab.view("m", GROUPS).build()
        lab.run("insert into t values (9, 1, 9)")
        origin.refresh()
        clone = lab.view("ci_m", GROUPS)
        clone.clone_of(origin)
        clone.check()
        clone.must_be("no_op")
        changes(lab)
        clone.must_be("incremental")


class TestViewsOverViews:
    @pytest.mark.parametrize("over", OVER)
    @pytest.mark.parametrize("upper_first", [False, True])
    def test_both_go_on(self, lab, over, upper_first):
        """In whatever order they are cloned."""
        views = layers(lab, OVER[over])
        if upper_first:
            views.upper_clone.clone_of(views.upper, NAMES)
            views.lower_clone.clone_of(views.lower, NAMES)
        else:
            views.clone()
        changes(lab)
        views.lower_clone.must_be("incremental")
        assert "only the public view changes" in views.upper_clone.must_be("incremental").explanation
        views.upper_clone.must_be("no_op")
        lab.run("insert into t values (8, 2, 8)")
        views.lower_clone.must_be("incremental")
        views.upper_clone.must_be("incremental")

    def test_without_changes(self, lab):
        views = layers(lab)
        views.clone()
        views.lower_clone.must_be("no_op")
        views.upper_clone.must_be("incremental")
        views.upper_clone.must_be("no_op")

    def test_strict(self, lab):
        views = layers(lab)
        views.clone()
        changes(lab)
        views.lower_clone.must_be("incremental", refresh_mode="strict")
        views.upper_clone.must_be("incremental", refresh_mode="strict")

    def test_maintenance_of_the_origin_between(self, lab):
        """Commits without rows make other versions with the same rows."""
        views = layers(lab)
        lab.run("alter table m__ivm set tblproperties ('a' = 'b')")
        views.clone()
        changes(lab)
        views.lower_clone.must_be("incremental")
        views.upper_clone.must_be("incremental")

    def test_an_origin_that_was_refreshed_between(self, lab):
        """The lower view is ahead of what the upper one was computed from: the upper one is built."""
        views = layers(lab)
        changes(lab)
        views.lower.must_be("incremental")
        views.clone()
        views.lower_clone.must_be("no_op")
        views.upper_clone.must_be("full", Reason.QUERY_CHANGED)

    def test_a_lower_view_that_was_built_here(self, lab):
        views = layers(lab)
        views.lower_clone.build()
        views.upper_clone.clone_of(views.upper, NAMES)
        views.upper_clone.must_be("full", Reason.QUERY_CHANGED)

    def test_a_lower_view_that_is_read_where_it_is(self, lab):
        """As with --favor-state: the query reads production's view."""
        views = layers(lab)
        clone = lab.view("ci_m2", OVER["an aggregate"].format("m"))
        clone.clone_of(views.upper, NAMES)
        changes(lab)
        views.lower.must_be("incremental")
        clone.must_be("incremental")

    def test_a_lower_view_that_was_refreshed_first_several_times(self, lab):
        views = layers(lab)
        views.clone()
        for number in range(3):
            lab.run(f"insert into t values ({number}, {number}, {number})")
            views.lower_clone.must_be("incremental")
        views.upper_clone.must_be("incremental")

    def test_explain(self, lab):
        views = layers(lab)
        views.clone()
        assert "next refresh: incremental" in views.upper_clone.explain()


class TestAuxiliaryViews:
    NESTED = "select k, n, count(*) as views from (select k, count(*) as n from t group by k) join u using (k) group by k, n"

    def test_go_on(self, lab):
        origin = lab.view("m", self.NESTED, auxiliary_views="always").build()
        assert origin.frontier().auxiliaries
        clone = lab.view("ci_m", self.NESTED, auxiliary_views="always")
        clone.clone_of(origin, NAMES)  # it reads none of these
        clone.check()
        changes(lab)
        result = clone.must_be("incremental")
        assert not any("create or replace table" in statement for statement in result.statements)
        assert lab.has("ci_m__ivm_aux_1__ivm")
        clone.must_be("no_op")
        clone.drop()
        assert not [name for name in lab.names() if name.startswith("ci_m")]


class TestKilled:
    """A clone that dies at a statement: another clone, or an ordinary run, ends well."""

    @pytest.mark.parametrize("then", ["cloned again", "refreshed"])
    @pytest.mark.parametrize("when", ["before", "after"])
    @pytest.mark.parametrize("at", [1, 2])
    @pytest.mark.parametrize("layer", ["lower", "upper"])
    def test_at_each_statement(self, lab, layer, at, when, then):
        views = layers(lab)
        if layer == "upper":
            views.lower_clone.clone_of(views.lower, NAMES)
        origin: View = getattr(views, layer)
        clone: View = getattr(views, f"{layer}_clone")
        lab.engine.is_killed(len(lab.engine.ran) + at, when)
        with suppress(Killed):
            clone.clone_of(origin, NAMES)
        clone = clone.on(lab.another())
        if then == "cloned again":
            clone.clone_of(origin, NAMES)
        changes(lab)
        views.lower_clone.on(clone.lab).refresh()
        clone.refresh()
        clone.check()
        clone.must_be("no_op")

    @pytest.mark.parametrize("at", [1, 2])
    @pytest.mark.parametrize("when", ["before", "after"])
    def test_a_statement_that_fails(self, lab, at, when):
        origin = lab.view("m", GROUPS).build()
        clone = lab.view("ci_m", GROUPS)
        lab.engine.fails(len(lab.engine.ran) + at, "[SOMETHING] is wrong", when=when)
        with suppress(EngineError, ModelError):
            clone.clone_of(origin)
        changes(lab)
        clone.refresh()
        clone.check()
        clone.must_be("no_op")


class TestRefusals:
    def test_a_relation_that_is_not_an_incremental_view(self, lab):
        with pytest.raises(CannotClone, match="not an incremental view"):
            lab.view("ci_m", GROUPS).clone_of(lab.view("t", "select 1"))
        with pytest.raises(CannotClone, match="not an incremental view"):
            lab.view("ci_m", GROUPS).clone_of(lab.view("missing", "select 1"))
        assert not lab.has("ci_m")

    def test_a_state_that_somebody_wrote_to(self, lab):
        origin = lab.view("m", GROUPS).build()
        lab.run("delete from m__ivm where k = 1")
        with pytest.raises(CannotClone, match="STATE_MODIFIED"):
            lab.view("ci_m", GROUPS).clone_of(origin)
        assert not lab.has("ci_m")

    @pytest.mark.parametrize("text", ["select 1 as k", "values (1)"])
    def test_a_public_view_that_somebody_altered(self, lab, text):
        origin = lab.view("m", GROUPS).build()
        relations = lab.engine.lake.relations
        key = origin.request.view.key
        relations[key] = replace(relations[key], text=text)
        with pytest.raises(CannotClone, match="does not read"):
            lab.view("ci_m", GROUPS).clone_of(origin)
        assert not lab.has("ci_m")

    def test_a_relation_that_is_in_the_way(self, lab):
        origin = lab.view("m", GROUPS).build()
        lab.run("create view ci_m as select 1 as a")
        with pytest.raises(Exception, match="is taken by a view that dbt-sparkivm did not create"):
            lab.view("ci_m", GROUPS).clone_of(origin)
        assert lab.rows("select * from ci_m") == [(1,)]

    def test_a_view_of_another_model_with_that_name(self, lab):
        origin = lab.view("m", GROUPS).build()
        other = lab.view("ci_m", GROUPS).build()
        owner = replace(other.request.owner, model="model.lab.other")
        with pytest.raises(Exception, match="is taken by"):
            other.with_(owner=owner).clone_of(origin)


def test_a_clone_of_a_view_whose_public_view_is_one_step_behind(lab):
    """Production's driver was killed between its commit and the public view of an edited query."""
    edited = GROUPS + " having count(*) > 1"
    lab.view("m", GROUPS).build()
    lab.engine.is_killed("create or replace view", "before")
    with suppress(Killed):
        lab.view("m", edited).refresh()
    lab = lab.another()
    clone = lab.view("ci_m", edited)
    clone.clone_of(lab.view("m", edited), NAMES)
    clone.refresh()
    clone.check()
    clone.must_be("no_op")
