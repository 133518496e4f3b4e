"""A state's frontier is that of its newest data commit, whatever Delta commits afterwards."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sparkivm.changes.frontier import Frontier
from sparkivm.engine import SNAPSHOT, Commit, Engine, Field, RelationFacts
from sparkivm.marker import owner_of
from sparkivm.names import TableName
from sparkivm.reasons import Reason
from sparkivm.refresh.request import RefreshRequest
from sparkivm.refresh.stored.stored_state import read_state

VIEW = TableName("s", "v")
OWNER = owner_of("p", "model.p.v", VIEW)
REQUEST = RefreshRequest(VIEW, "", OWNER)
BUILT = Frontier("p", "model.p.v", "s.v", "group", "text", "plan", {}, {}, nonce="built")
REFRESHED = replace(BUILT, base=5, nonce="refreshed")


class History(Engine):
    """A state with these commits, from version 5 on."""

    def __init__(self, *commits: tuple[str, Frontier | None], fields: tuple[Field, ...] = ()) -> None:
        self.fields = fields
        self.all = [
            Commit(version, version, operation, {}, {}, frontier and frontier.to_json())
            for version, (operation, frontier) in enumerate(commits, 5)
        ]

    def describe(self, name):
        return RelationFacts(name, "delta", self.fields, version=self.all[-1].version)

    def commits(self, name, after):
        return [commit for commit in self.all if commit.version > after]


@pytest.mark.parametrize(
    ("commits", "version"),
    [
        ([("CREATE TABLE AS SELECT", BUILT), ("OPTIMIZE", BUILT)], 5),
        ([("CREATE TABLE AS SELECT", BUILT), ("WRITE", REFRESHED), ("OPTIMIZE", REFRESHED)], 6),
        ([("CREATE TABLE AS SELECT", BUILT), ("OPTIMIZE", None), ("WRITE", REFRESHED)], 7),
    ],
)
def test_compaction_is_passed_over(commits, version):
    """Auto compaction commits in the refresh's session, so it carries the refresh's metadata."""
    stored = read_state(History(*commits), REQUEST)
    assert stored.problem is None
    assert stored.frontier_commit.version == version


def test_a_write_between_is_not():
    stored = read_state(
        History(("CREATE TABLE AS SELECT", BUILT), ("WRITE", None), ("WRITE", REFRESHED)), REQUEST
    )
    assert stored.problem.reason is Reason.STATE_MODIFIED
    assert stored.problem.detail == "version 6 of s.v__ivm is a WRITE, not a refresh"


def test_a_frontier_of_another_model_is_not_this_views():
    other = replace(BUILT, model="model.p.w")
    stored = read_state(History(("CREATE TABLE AS SELECT", other)), REQUEST)
    assert stored.frontier is None
    assert "was written for model.p.w" in stored.problem.detail


@pytest.mark.parametrize("operation", ["RENAME COLUMN", "DROP COLUMNS", "ADD COLUMNS", "REPLACE COLUMNS"])
def test_columns_that_somebody_altered(operation):
    """Before or after a refresh: the rows are the same, but a name may now mean another column."""
    after = read_state(History(("CREATE TABLE AS SELECT", BUILT), (operation, None)), REQUEST)
    before = read_state(
        History(("CREATE TABLE AS SELECT", BUILT), (operation, None), ("WRITE", REFRESHED)), REQUEST
    )
    for stored in (after, before):
        assert stored.problem.reason is Reason.STATE_MODIFIED
        assert operation in stored.problem.detail


@pytest.mark.parametrize("operation", ["OPTIMIZE", "CHANGE COLUMN", "SET TBLPROPERTIES", "CLUSTER BY"])
def test_what_leaves_the_columns_as_they_are(operation):
    stored = read_state(History(("CREATE TABLE AS SELECT", BUILT), (operation, None)), REQUEST)
    assert (stored.problem, stored.frontier) == (None, BUILT)


def test_columns_are_compared_with_those_that_were_left():
    commits = [
        ("CREATE TABLE AS SELECT", replace(BUILT, columns=(("k", "int", ""),))),
        ("CHANGE COLUMN", None),
    ]
    assert read_state(History(*commits, fields=(Field("k", "int"),)), REQUEST).problem is None
    stored = read_state(History(*commits, fields=(Field("k", "bigint"),)), REQUEST)
    assert stored.problem.reason is Reason.STATE_MODIFIED
    assert "k is bigint, and was int" in stored.problem.detail


def test_every_version_since_the_frontier_has_to_be_in_the_log():
    """A commit without a log entry may have done anything."""
    history = History(("CREATE TABLE AS SELECT", BUILT), ("WRITE", None), ("OPTIMIZE", None))
    del history.all[1]
    stored = read_state(history, REQUEST)
    assert stored.problem.reason is Reason.FRONTIER_MISSING
    assert "version 6" in stored.problem.detail


def test_a_frontier_that_is_too_far_back_is_not_looked_for():
    """The log has all commits, so none is said to be missing."""
    history = History(("CREATE TABLE AS SELECT", BUILT), *[("OPTIMIZE", None)] * 1001)
    stored = read_state(history, REQUEST)
    assert (stored.problem.reason, stored.problem.detail) == (Reason.FRONTIER_MISSING, "")


def test_a_commit_newer_than_what_was_seen_of_the_state_is_left_out():
    history = History(("CREATE TABLE AS SELECT", BUILT), ("WRITE", REFRESHED))
    history.describe = lambda name: RelationFacts(name, "delta", (), version=5)
    assert read_state(history, REQUEST).frontier == BUILT


def test_a_frontier_of_any_shape_is_of_another_format():
    history = History(("CREATE TABLE AS SELECT", BUILT))
    broken = BUILT.to_json().replace('"sources":{}', '"sources":[]')
    history.all[0] = replace(history.all[0], user_metadata=broken)
    assert read_state(history, REQUEST).problem.reason is Reason.STATE_FORMAT_CHANGED


@pytest.mark.parametrize(("id_now", "reason"), [("1", None), ("2", Reason.STATE_MODIFIED)])
def test_a_column_of_iceberg_that_was_made_again_after_a_rebuild(id_now, reason):
    """The frontier of a rebuild knows no ids, as the table did not exist; the snapshot with it does."""

    class InIceberg(History):
        def describe(self, name):
            return replace(super().describe(name), kind="iceberg", commit_id=f"{SNAPSHOT}:7:0")

        def commits(self, name, after):
            parameters = {"parent": "0", "columns": '{"b": "1"}'}
            return [
                replace(one, id=f"{SNAPSHOT}:7", parameters=parameters)
                for one in super().commits(name, after)
            ]

    frontier = replace(BUILT, columns=(("b", "int", ""),))
    state = InIceberg(("overwrite", frontier), fields=(Field("b", "int", mapped_to=id_now),))
    problem = read_state(state, REQUEST).problem
    assert (problem and problem.reason) == reason
