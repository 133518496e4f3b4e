"""If files are overwritten while a mirror reads them, it reads once more; if that fails too, it raises an error."""

from __future__ import annotations

import pytest

from sparkivm.changes.source_declaration import SourceDeclaration
from sparkivm.engine import Commit, Engine, EngineError, Field, RelationFacts
from sparkivm.errors import NotIncremental
from sparkivm.formats.delta_states import DELTA_STATES
from sparkivm.marker import Marker, Role, owner_of
from sparkivm.names import TableName
from sparkivm.refresh.session.recording_engine import RecordingEngine
from sparkivm.refresh.sources import mirror
from sparkivm.refresh.sources.mirror import Mirror
from tests.bare_macros import BareMacros

SOURCE = RelationFacts(TableName("shop", "prices"), "other", (), provider="parquet")
NAME = TableName("analytics", "shop__prices__ivm_mirror")
FIELDS = (Field("id", "int"),)
CHANGED = EngineError("[FAILED_READ_FILE.FILE_NOT_EXIST] a.parquet", "FAILED_READ_FILE.FILE_NOT_EXIST")
GONE = EngineError("[PATH_NOT_FOUND] /data/prices", "PATH_NOT_FOUND")
OTHER = EngineError("[DIVIDE_BY_ZERO] in a view of files", "DIVIDE_BY_ZERO")


class Spark(Engine):
    """Has a source of files and possibly a mirror. Statements of a kind fail with the errors given for it."""

    def __init__(self, *, mirrored: bool, **errors: list[EngineError]) -> None:
        self.version = 0 if mirrored else -1
        self.errors, self.ran, self.set_to = errors, [], {}
        self._macros = BareMacros()

    def _fail(self, kind: str) -> None:
        if self.errors.get(kind):
            raise self.errors[kind].pop(0)

    def render(self, macro, **arguments):
        return self._macros.render(macro, **arguments)

    def describe(self, name):
        if self.version < 0:
            return None
        properties = Marker(owner_of("shop", SOURCE.name.key, NAME), Role.MIRROR).properties
        return RelationFacts(
            NAME, "delta", FIELDS, version=self.version, size_bytes=1000, properties=properties
        )

    def schema_of(self, sql):
        self._fail("look")
        return FIELDS

    def analyzed_plan(self, sql):
        return ""

    def query(self, sql):
        return [{"several": 0, "gone": 0, "came": 0}]

    def execute(self, sql):
        kind = {"create": "build", "cache": "compare", "refresh": "list"}.get(sql.split()[0], "other")
        self.ran.append(kind)
        self._fail(kind)
        if kind == "build":
            self.version += 1
        return []

    def commits(self, name, after):
        metadata = self.set_to.get("spark.databricks.delta.commitInfo.userMetadata")
        return [Commit(self.version, 1, "CREATE TABLE AS SELECT", {}, {}, self.metadata or metadata)]

    metadata = ""

    def set(self, settings):
        self.set_to |= settings
        self.metadata = self.set_to.get("spark.databricks.delta.commitInfo.userMetadata", self.metadata)

    def unset(self, settings):
        for name in settings:
            self.set_to.pop(name, None)

    def settings(self, names):
        return {name: self.set_to[name] for name in names if name in self.set_to}


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch):
    monkeypatch.setattr(mirror.time, "sleep", lambda seconds: None)


def captured(spark):
    recording = RecordingEngine(spark)
    found = Mirror(recording, "shop", SOURCE, NAME, SourceDeclaration(), DELTA_STATES)
    return found.captured(), recording.warnings


@pytest.mark.parametrize("error", [CHANGED, GONE])
def test_a_first_build_is_repeated(error):
    spark = Spark(mirrored=False, build=[error])
    facts, warnings = captured(spark)
    assert facts.version == 0
    assert spark.ran == ["list", "build", "list", "build"]
    assert warnings == [
        "shop.prices keeps no history: analytics.shop__prices__ivm_mirror mirrors it and records its changes"
    ]


def test_a_comparison_is_repeated():
    spark = Spark(mirrored=True, compare=[CHANGED])
    facts, warnings = captured(spark)
    assert (facts.version, warnings) == (0, [])
    assert [kind for kind in spark.ran if kind != "other"] == ["list", "compare", "list", "compare"]


def test_a_look_at_the_columns_is_repeated():
    spark = Spark(mirrored=True, look=[GONE])
    assert captured(spark)[0].version == 0
    assert [kind for kind in spark.ran if kind != "other"] == ["list", "list", "compare"]


def test_a_mirror_whose_own_files_are_lost_is_built_again():
    spark = Spark(mirrored=True, compare=[CHANGED, CHANGED])
    facts, warnings = captured(spark)
    assert facts.version == 1
    assert len(warnings) == 1


@pytest.mark.parametrize(
    "errors",
    [
        {"mirrored": False, "build": [CHANGED, CHANGED]},
        {"mirrored": True, "compare": [CHANGED, CHANGED], "build": [CHANGED]},
        {"mirrored": True, "look": [GONE, GONE]},
    ],
)
def test_twice_is_an_error_that_says_what_to_do(errors):
    spark = Spark(**errors)
    with pytest.raises(EngineError, match=r"shop\.prices cannot be read into its mirror") as error:
        captured(spark)
    assert "run dbt again when nothing writes to the source" in str(error.value)
    assert len(str(error.value).splitlines()) <= 5
    assert error.value.condition


def test_other_errors_are_not_repeated():
    spark = Spark(mirrored=False, build=[OTHER])
    with pytest.raises(NotIncremental, match=r"its mirror .* cannot be created"):
        captured(spark)
    assert spark.ran == ["list", "build"]
