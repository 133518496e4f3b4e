"""The commit of a refresh leaves the session as a model's hooks made it."""

from __future__ import annotations

import pytest

from sparkivm.engine import Commit, Engine, EngineError, EngineLost
from sparkivm.formats.delta_states import DELTA_STATES
from sparkivm.formats.iceberg_states import ICEBERG_STATES
from sparkivm.formats.state_format import Tag, Write
from sparkivm.names import TableName
from sparkivm.refresh.session.recording_engine import RecordingEngine
from sparkivm.refresh.stored.commit import Conflict, commit_tagged

MODE = "spark.sql.sources.partitionOverwriteMode"
METADATA = "spark.databricks.delta.commitInfo.userMetadata"


class Session(Engine):
    """Stores settings. A statement records the settings of that moment, and fails if an error is given."""

    def __init__(self, error: EngineError | None = None) -> None:
        self.set_to, self.error, self.during = {MODE: "dynamic"}, error, {}

    def set(self, settings):
        self.set_to |= settings

    def unset(self, settings):
        for name in settings:
            self.set_to.pop(name, None)

    def settings(self, names):
        return {name: self.set_to[name] for name in names if name in self.set_to}

    def render(self, macro, **arguments):
        return macro

    def execute(self, sql):
        self.during = dict(self.set_to)
        if self.error:
            raise self.error
        return []

    def commits(self, name, after):
        return [Commit(1, 1, "WRITE", {}, {}, self.during[METADATA])]


def commit(session):
    tag = Tag("nonce", "nonce", "view", 1)
    return commit_tagged(
        RecordingEngine(session), DELTA_STATES, TableName("s", "t"), 0, tag, Write("insert", {})
    )


def test_settings_of_hooks_stay():
    session = Session()
    assert commit(session).version == 1
    assert session.during[MODE] == "STATIC"
    assert session.set_to == {MODE: "dynamic"}


@pytest.mark.parametrize(
    ("error", "raised"),
    [
        (EngineError("lost"), EngineError),
        (EngineLost("stopped"), EngineLost),
        (EngineError("faster", "DELTA_CONCURRENT_WRITE"), Conflict),
    ],
)
def test_settings_of_hooks_stay_after_an_error(error, raised):
    session = Session(error)
    with pytest.raises(raised):
        commit(session)
    assert session.set_to == {MODE: "dynamic"}


def test_an_iceberg_table_is_looked_at_again_before_its_commits():
    """Spark may show those that it knew when the table was last looked at."""

    class Iceberg(Session):
        known: tuple[Commit, ...] = ()

        def describe(self, name):
            self.known = (Commit(1, 1, "append", {}, {}, "nonce"),)

        def commits(self, name, after):
            return self.known

    engine, tag = RecordingEngine(Iceberg()), Tag("nonce", "nonce", "view", 1)
    write = Write("append_state", {"state": "t"})
    assert commit_tagged(engine, ICEBERG_STATES, TableName("s", "t"), 0, tag, write).version == 1
