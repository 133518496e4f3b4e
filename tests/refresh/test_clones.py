"""A clone of another environment's view: its state goes on from the same versions of the sources.

Production builds `m`, `m2`; the clones are `ci_m`, `ci_m2`.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

import pytest

from sparkivm.engine import EngineError
from sparkivm.errors import ModelError
from sparkivm.reasons import Reason
from sparkivm.refresh.run.clone import CannotClone
from tests.fake_engine.engine import Killed
from tests.refresh.lab import Lab, View, kinds

GROUPS = "select k, sum(x) as s, count(*) as n, max(x) as m from t group by k"
JOIN = "select t.id, t.x, u.y from t left join u on t.k = u.k"
OVER = {
    "an aggregate": "select s, count(*) as n from {} group by s",
    "a projection": "select k, s + 1 as more from {} where n > 0",
    "a join with itself": "select a.k, b.s from {0} a join {0} b on a.k = b.k",
    "a join with a source": "select m.k, m.s, u.y from {} m left join u on m.k = u.k",
    "a window": "select k, s, row_number() over (order by s, k) as r from {}",
}


@pytest.fixture
def lab() -> Lab:
    lab = Lab()
    lab.table("t", "id int, k int, x int", "(1, 1, 1)", "(2, 1, 2)", "(3, 2, 4)", "(4, null, null)")
    lab.table("u", "k int, y int", "(1, 10)", "(1, 11)")
    return lab


def changes(lab: Lab) -> None:
    lab.run(
        "insert into t values (5, 2, 8), (6, 3, 1)",
        "delete from t where id = 1",
        "update t set x = 7 where id = 2",
        "insert into u values (2, 12)",
    )


def two_layers(lab: Lab, over: str) -> tuple[View, View]:
    """Production's views, built."""
    return lab.view("m", GROUPS).build(), lab.view("m2", over.format("m")).build()


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

    def test_names_with_blanks(self, lab):
        """Delta cannot share such a table's files, so the rows are copied."""
        sql = "select k as `the key`, count(*) as n from t group by k"
        origin = lab.view("m", sql).build()
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
    @pytest.mark.parametrize("first", ["ci_m", "ci_m2"])
    def test_both_go_on(self, lab, over, first):
        """In whatever order they are cloned."""
        m, m2 = two_layers(lab, OVER[over])
        ci_m, ci_m2 = lab.view("ci_m", GROUPS), lab.view("ci_m2", OVER[over].format("ci_m"))
        names = {"ci_m": "m", "ci_m2": "m2"}
        for clone, origin in sorted([(ci_m, m), (ci_m2, m2)], key=lambda pair: pair[0].name != first):
            clone.clone_of(origin, names)
        changes(lab)
        ci_m.must_be("incremental")
        assert "only the public view changes" in ci_m2.must_be("incremental").explanation
        ci_m2.must_be("no_op")
        lab.run("insert into t values (8, 2, 8)")
        ci_m.must_be("incremental")
        ci_m2.must_be("incremental")

    def test_without_changes(self, lab):
        m, m2 = two_layers(lab, OVER["an aggregate"])
        ci_m, ci_m2 = lab.view("ci_m", GROUPS), lab.view("ci_m2", OVER["an aggregate"].format("ci_m"))
        ci_m.clone_of(m)
        ci_m2.clone_of(m2, {"ci_m": "m"})
        ci_m.must_be("no_op")
        ci_m2.must_be("incremental")
        ci_m2.must_be("no_op")

    def test_strict(self, lab):
        m, m2 = two_layers(lab, OVER["an aggregate"])
        ci_m, ci_m2 = lab.view("ci_m", GROUPS), lab.view("ci_m2", OVER["an aggregate"].format("ci_m"))
        ci_m.clone_of(m)
        ci_m2.clone_of(m2, {"ci_m": "m"})
        changes(lab)
        ci_m.must_be("incremental", refresh_mode="strict")
        ci_m2.must_be("incremental", refresh_mode="strict")

    def test_maintenance_of_the_origin_between(self, lab):
        """Commits without rows make other versions with the same rows."""
        m, m2 = two_layers(lab, OVER["an aggregate"])
        lab.run("alter table m__ivm set tblproperties ('a' = 'b')")
        ci_m, ci_m2 = lab.view("ci_m", GROUPS), lab.view("ci_m2", OVER["an aggregate"].format("ci_m"))
        ci_m.clone_of(m)
        ci_m2.clone_of(m2, {"ci_m": "m"})
        changes(lab)
        ci_m.must_be("incremental")
        ci_m2.must_be("incremental")

    def test_an_origin_that_was_refreshed_between(self, lab):
        """The lower view is ahead of what the upper one was computed from: the upper one is built."""
        m, m2 = two_layers(lab, OVER["an aggregate"])
        changes(lab)
        m.must_be("incremental")
        ci_m, ci_m2 = lab.view("ci_m", GROUPS), lab.view("ci_m2", OVER["an aggregate"].format("ci_m"))
        ci_m.clone_of(m)
        ci_m2.clone_of(m2, {"ci_m": "m"})
        ci_m.must_be("no_op")
        ci_m2.must_be("full", Reason.QUERY_CHANGED)

    def test_a_lower_view_that_was_built_here(self, lab):
        _m, m2 = two_layers(lab, OVER["an aggregate"])
        lab.view("ci_m", GROUPS).build()
        ci_m2 = lab.view("ci_m2", OVER["an aggregate"].format("ci_m"))
        ci_m2.clone_of(m2, {"ci_m": "m"})
        ci_m2.must_be("full", Reason.QUERY_CHANGED)

    def test_a_lower_view_that_is_read_where_it_is(self, lab):
        """As with --favor-state: the query reads production's view."""
        m, m2 = two_layers(lab, OVER["an aggregate"])
        ci_m2 = lab.view("ci_m2", OVER["an aggregate"].format("m"))
        ci_m2.clone_of(m2, {"ci_m": "m"})
        changes(lab)
        m.must_be("incremental")
        ci_m2.must_be("incremental")

    def test_a_lower_view_that_was_refreshed_first_several_times(self, lab):
        m, m2 = two_layers(lab, OVER["an aggregate"])
        ci_m, ci_m2 = lab.view("ci_m", GROUPS), lab.view("ci_m2", OVER["an aggregate"].format("ci_m"))
        ci_m.clone_of(m)
        ci_m2.clone_of(m2, {"ci_m": "m"})
        for number in range(3):
            lab.run(f"insert into t values ({number}, {number}, {number})")
            ci_m.must_be("incremental")
        ci_m2.must_be("incremental")

    def test_explain(self, lab):
        m, m2 = two_layers(lab, OVER["an aggregate"])
        ci_m, ci_m2 = lab.view("ci_m", GROUPS), lab.view("ci_m2", OVER["an aggregate"].format("ci_m"))
        ci_m.clone_of(m)
        ci_m2.clone_of(m2, {"ci_m": "m"})
        assert "next refresh: incremental" in ci_m2.explain()


class TestAuxiliaryViews:
    NESTED = "select k, n, count(*) as views from (select k, count(*) as n from t group by k) join u using (k) group by k, n"

    def test_go_on(self, lab):
        origin = lab.view("m", self.NESTED, auxiliary_views="always").build()
        assert origin.frontier().auxiliaries
        clone = lab.view("ci_m", self.NESTED, auxiliary_views="always")
        clone.clone_of(origin)
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
    @pytest.mark.parametrize("layers", ["lower", "upper"])
    def test_at_each_statement(self, lab, layers, at, when, then):
        m, m2 = two_layers(lab, OVER["an aggregate"])
        ci_m, ci_m2 = lab.view("ci_m", GROUPS), lab.view("ci_m2", OVER["an aggregate"].format("ci_m"))
        if layers == "upper":
            ci_m.clone_of(m)
        clone, origin = (ci_m, m) if layers == "lower" else (ci_m2, m2)
        lab.engine.is_killed(at, when)
        with suppress(Killed):
            clone.clone_of(origin, {"ci_m": "m"})
        clone = clone.on(lab.another())
        if then == "cloned again":
            clone.clone_of(origin, {"ci_m": "m"})
        changes(lab)
        ci_m.on(clone.lab).refresh()
        clone.refresh()
        clone.check()
        clone.must_be("no_op")

    @pytest.mark.parametrize("at", [1, 2])
    @pytest.mark.parametrize("when", ["before", "after"])
    def test_a_statement_that_fails(self, lab, at, when):
        origin = lab.view("m", GROUPS).build()
        clone = lab.view("ci_m", GROUPS)
        lab.engine.fails(at, "[SOMETHING] is wrong", when=when)
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
