"""An edited query keeps its state where the stored rows have what it needs."""

from __future__ import annotations

import json

import pytest

from sparkivm.changes.source_declaration import DeclaredSources
from sparkivm.reasons import Reason
from tests.refresh.lab import Lab, View, kinds
from tests.refresh.two_tables import changes, two_tables

# (before, after): the stored rows stay, only the public view and the frontier change
KEPT = {
    "a formula over a sum": ("select k, sum(x) as s from t group by k", "select k, sum(x) as s, sum(x) * 2 as d from t group by k"),
    "an average over sum and count": (
        "select k, sum(x) as s, count(x) as n from t group by k",
        "select k, sum(x) as s, count(x) as n, avg(x) as a from t group by k",
    ),
    "HAVING": ("select k, count(*) as n from t group by k", "select k, count(*) as n from t group by k having count(*) > 1"),
    "another alias": ("select k, count(*) as n from t group by k", "select k, count(*) as rows from t group by k"),
    "another order of columns": ("select k, count(*) as n from t group by k", "select count(*) as n, k from t group by k"),
    "a window over all groups": (
        "select k, sum(x) as s from t group by k",
        "select k, sum(x) as s, rank() over (order by sum(x)) as r from t group by k",
    ),
    "LIMIT": ("select id, x from t order by x limit 2", "select id, x from t order by x limit 1"),
    "through CTEs": (
        "with a as (select * from t), b as (select k, sum(x) as s from a group by k) select * from b",
        "with a as (select * from t), b as (select k, sum(x) as s, sum(x) / 2 as h from a group by k) select * from b",
    ),
    "of all rows": ("select sum(x) as s from t", "select sum(x) as s, sum(x) + 1 as s1 from t"),
}  # fmt: skip

# (before, after): the new columns are computed from the stored ones
DERIVED = {
    "a formula": ("select id, x from t", "select id, x, x * 2 as d from t"),
    "in the middle": ("select id, x from t", "select id, id + x as d, x from t"),
    "of a formula": ("select id, x + k as s from t", "select id, x + k as s, (x + k) * 10 as d from t"),
    "by its alias": ("select id, x + k as s from t", "select id, x + k as s, s * 10 as d from t"),
    "twice": ("select id, x from t", "select id, x, x as y from t"),
    "of the only column": ("select x from t", "select x, x + 1 as y from t"),
    "of a join": (
        "select t.id, t.x, u.y from t left join u on t.k = u.k",
        "select t.id, t.x, u.y, coalesce(u.y, t.x) as z from t left join u on t.k = u.k",
    ),
    "through CTEs": (
        "with a as (select * from t where x > 0), b as (select id, k, x from a) select * from b",
        "with a as (select * from t where x > 0), b as (select id, k, x, k * x as p from a) select * from b",
    ),
    "a constant formula": ("select id, x from t", "select id, x, 1 + 1 as two from t"),
    "beside a constant of the run": ("select id, x, 'a' as run from t", "select id, x, 'b' as run, -x as m from t"),
    "sorted": ("select id, x from t order by x desc limit 2", "select id, x, x + 1 as y from t order by x desc limit 2"),
    "sorted by a column that is not shown": ("select id from t order by x limit 2", "select id, id + 1 as next from t order by x limit 2"),
    "several": ("select id, x, k from t", "select id, x, k, x + k as a, x - k as b, a * b as c from t"),
}  # fmt: skip

# (before, after): what the stored rows do not have
REBUILT = {
    "a column of the source": ("select id, x from t", "select id, x, k from t"),
    "a formula over another column": ("select id, x from t", "select id, x, x + k as s from t"),
    "another filter": ("select id, x from t", "select id, x, x + 1 as y from t where x > 1"),
    "another aggregate": ("select k, sum(x) as s from t group by k", "select k, sum(x) as s, max(x) as m from t group by k"),
    "another key": ("select k, count(*) as n from t group by k", "select k, id, count(*) as n from t group by k, id"),
    "another formula of a column": ("select id, x + 1 as y from t", "select id, x + 2 as y from t"),
    "exchanged columns": ("select id as a, x as b from t", "select x as a, id as b, 1 + 1 as c from t"),
    "another type": ("select id, x from t", "select id, cast(x as bigint) as x, x + 1 as y from t"),
    "another join": (
        "select t.id, u.y from t left join u on t.k = u.k",
        "select t.id, u.y, u.y + 1 as z from t join u on t.k = u.k",
    ),
    "DISTINCT": ("select x from t", "select distinct x, x + 1 as y from t"),
    "UNION ALL of more": ("select x from t", "select x from t union all select x from t"),
    "an alias that hides a column": ("select id, k as x from t", "select id, k as x, t.x + 1 as y from t"),
}  # fmt: skip


@pytest.fixture
def lab() -> Lab:
    return two_tables()


def edited(lab: Lab, texts: tuple[str, str]) -> View:
    before, after = texts
    lab.view("m", before).build()
    return lab.view("m", after)


@pytest.mark.parametrize("name", KEPT)
def test_the_stored_rows_stay(lab, name):
    view = edited(lab, KEPT[name])
    held = view.held()
    result = view.must_be("incremental")
    assert "only the public view changes" in result.explanation
    assert kinds(result.statements) == ["alter table", "create or replace"]
    assert view.held() == held
    view.must_be("no_op")
    changes(lab)
    view.must_be("incremental")


@pytest.mark.parametrize("name", DERIVED)
def test_new_columns_come_from_the_stored_ones(lab, name):
    view = edited(lab, DERIVED[name])
    result = view.must_be("incremental")
    assert "from the stored columns" in result.explanation
    made, _view = result.statements
    assert "from shop.t" not in made.replace("`", "")
    assert "m__ivm" in made
    view.must_be("no_op")
    changes(lab)
    view.must_be("incremental")


@pytest.mark.parametrize("name", REBUILT)
def test_what_needs_the_sources_is_rebuilt(lab, name):
    edited(lab, REBUILT[name]).must_be("full", Reason.QUERY_CHANGED)


@pytest.mark.parametrize("keeps", [False, True])
@pytest.mark.parametrize(
    ("texts", "replaced"),
    [
        (KEPT["a formula over a sum"], False),
        (DERIVED["a formula"], True),
        (REBUILT["a column of the source"], True),
    ],
    ids=["kept", "derived", "rebuilt"],
)
def test_tags_on_sources_go_with_the_state_for_which_they_are_kept(lab, monkeypatch, texts, replaced, keeps):
    released = []
    monkeypatch.setattr(
        "sparkivm.refresh.run.attempt.release_snapshots", lambda _engine, state, _: released.append(state)
    )
    view = edited(lab, texts)
    former = lab.delta("m__ivm").newest.table_id
    declared = {"keep_snapshots": "14 days"} if keeps else {}
    view.refresh(declared=DeclaredSources("shop", {"shop.t": declared}))
    assert [state.table_id for state in released] == ([former] if replaced and keeps else [])


@pytest.mark.parametrize(
    "texts", [KEPT["a formula over a sum"], DERIVED["of a join"]], ids=["kept", "derived"]
)
class TestTogether:
    def test_with_changes_of_the_sources(self, lab, texts):
        view = edited(lab, texts)
        changes(lab)
        view.must_be("incremental")
        view.must_be("no_op")

    def test_explain(self, lab, texts):
        view = edited(lab, texts)
        changes(lab)
        assert "step 1: " in view.explain()
        assert "next refresh: incremental\n  the query was edited\n" in view.explain()
        assert json.loads(view.explain("json"))["next_refresh"]["mode"] == "incremental"

    def test_in_strict_mode(self, lab, texts):
        edited(lab, texts).must_be("incremental", refresh_mode="strict")

    def test_where_a_rebuild_is_forbidden(self, lab, texts):
        edited(lab, texts).must_be("incremental", full_refresh_allowed=False)

    def test_asked_for_in_full(self, lab, texts):
        edited(lab, texts).must_be("full", Reason.FULL_REFRESH_REQUESTED, full_refresh=True)

    def test_and_back(self, lab, texts):
        edited(lab, texts).must_be("incremental")
        lab.view("m", texts[0]).refresh()
        lab.view("m", texts[0]).check()

    @pytest.mark.parametrize("lost", ["before", "after"])
    def test_a_statement_that_fails(self, lab, texts, lost):
        """The view is rebuilt if the statement did not commit, and comes out right in any case."""
        view = edited(lab, texts)
        lab.engine.fails(len(lab.engine.ran) + 1, "[SOMETHING] is wrong", when=lost)
        result = view.refresh()
        assert lost == "after" or result.mode == "full"
        view.check()
        view.must_be("no_op")


def test_a_source_column_of_another_type(lab):
    """The text says the same, but the stored values have another type."""
    view = lab.view("m", "select * from u").build()
    lab.run("create or replace table u (k int, y bigint) using delta", "insert into u values (1, 5)")
    view.must_be("full", Reason.SOURCE_SCHEMA_CHANGED)
