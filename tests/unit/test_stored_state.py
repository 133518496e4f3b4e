"""The frontier of a state is that of its newest commit of data, whatever Delta commits behind it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sparkivm.changes.frontier import Frontier
from sparkivm.engine import Commit, Engine, RelationFacts
from sparkivm.marker import owner_of
from sparkivm.names import TableName
from sparkivm.reasons import Reason
from sparkivm.refresh.stored_state import read_state

VIEW = TableName("s", "v")
OWNER = owner_of("p", "model.p.v", VIEW)
BUILT = Frontier("p", "model.p.v", "s.v", "group", "text", "plan", {}, {}, nonce="built")
REFRESHED = replace(BUILT, base=5, nonce="refreshed")


class History(Engine):
    """A state with these commits, from version 5 on."""

    def __init__(self, *commits: tuple[str, Frontier | None]) -> None:
        self.all = [
            Commit(version, version, operation, {}, {}, frontier and frontier.to_json())
            for version, (operation, frontier) in enumerate(commits, 5)
        ]

    def describe(self, name):
        return RelationFacts(name, "delta", (), version=self.all[-1].version)

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
    """Auto compaction commits in the session that has the refresh's metadata set."""
    stored = read_state(History(*commits), VIEW, OWNER)
    assert stored.problem is None
    assert stored.frontier_commit.version == version


def test_a_write_between_is_not():
    stored = read_state(
        History(("CREATE TABLE AS SELECT", BUILT), ("WRITE", None), ("WRITE", REFRESHED)), VIEW, OWNER
    )
    assert stored.problem.reason is Reason.STATE_MODIFIED


def test_a_frontier_of_another_model_is_not_this_views():
    other = replace(BUILT, model="model.p.w")
    stored = read_state(History(("CREATE TABLE AS SELECT", other)), VIEW, OWNER)
    assert stored.frontier is None
    assert "was written for model.p.w" in stored.problem.detail
