"""The meaning of a model's names depends on the session's catalog and schema."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

import pytest

from sparkivm.changes.source_declaration import NOTHING_DECLARED
from sparkivm.engine import Field, RelationFacts
from sparkivm.errors import ModelError, NotIncremental
from sparkivm.formats.delta_states import DELTA_STATES
from sparkivm.names import TableName
from sparkivm.refresh.sources.pins import Pins
from sparkivm.refresh.sources.source_catalog import SourceCatalog
from sparkivm.refresh.sources.sources import Sources

FIELDS = (Field("a", "int"),)


class Session:
    """Each catalog has its own s.t and s.u, with different ids; there may be one temporary view."""

    def __init__(self, *current: str, temporary: str = "", foreign: str = "") -> None:
        self.current, self.temporary, self.foreign = current, temporary, foreign

    def namespace(self) -> tuple[str, ...]:
        return self.current

    def foreign_functions(self, names: Collection[str]) -> frozenset[str]:
        return frozenset(names) & {self.foreign}

    def describe(self, name: TableName) -> RelationFacts | None:
        if not name.schema and name.identifier == self.temporary:
            return RelationFacts(name, "view", FIELDS, temporary=True)
        name = name if name.schema else replace(name, schema=self.current[-1])
        if name.identifier not in ("t", "u"):
            return None
        catalog = name.catalog or self.current[0]
        return RelationFacts(
            name, "delta", FIELDS, table_id=f"{catalog}.{name.schema}.{name.identifier}", version=1
        )


def sources(*current: str, pins: Pins | None = None, **there: str) -> Sources:
    engine: Any = Session(*current, **there)
    return Sources(engine, pins or Pins(), NOTHING_DECLARED, "s", DELTA_STATES)


def catalog(*current: str) -> SourceCatalog:
    return SourceCatalog(sources(*current), TableName("s", "m"), TableName("s", "m__ivm"), {})


def test_names_are_written_down_as_far_as_they_depend_on_the_session():
    found = catalog("spark_catalog", "s")
    found.lookup(("spark_catalog", "s", "t"), ())
    assert found.resolved == {}
    found.lookup(("s", "t"), ())
    assert found.resolved == {"": "spark_catalog"}
    found.lookup(("u",), ())
    assert found.resolved == {"": "spark_catalog", "u": "s.u"}
    found.lookup(("t",), ("spark_catalog", "s"))  # in a view, which knows where it was created
    assert found.resolved == {"": "spark_catalog", "u": "s.u"}


@pytest.mark.parametrize(
    ("now", "same"),
    [
        (sources("spark_catalog", "s"), True),
        (sources("spark_catalog", "other"), False),
        (sources("other", "s"), False),
        (sources("spark_catalog", "s", temporary="t"), False),
        (sources("spark_catalog", "s", temporary="u"), True),
        (sources("spark_catalog", "s", foreign="sum"), False),
        (sources("spark_catalog", "s", foreign="max"), True),
    ],
)
def test_the_same_names_stand_for_the_same(now, same):
    assert now.resolve({"": "spark_catalog", "t": "s.t", "sum()": ""}) is same
    assert now.resolve({})


def test_the_schema_alone_does_not_matter_to_names_with_one():
    assert sources("spark_catalog", "other").resolve({"": "spark_catalog"})
    assert not sources("other", "s").resolve({"": "spark_catalog"})


def test_names_under_another_catalog():
    """Keys omit the current catalog, so names in Spark's own are refused while another catalog is current."""
    found = catalog("other", "s")
    assert found.qualified(("s", "t"), ()) == found.qualified(("other", "s", "t"), ()) == TableName("s", "t")
    assert found.qualified(("third", "s", "t"), ()) == TableName("s", "t", "third")
    for parts, namespace in ((("spark_catalog", "s", "t"), ()), (("t",), ("spark_catalog", "s"))):
        with pytest.raises(NotIncremental, match="the session's catalog is other"):
            found.qualified(parts, namespace)
    with pytest.raises(ModelError, match="reads itself"):
        found.lookup(("other", "s", "m"), ())


def test_a_run_pins_what_each_catalog_has():
    pins = Pins()
    there, here = sources("spark_catalog", "s", pins=pins), sources("other", "s", pins=pins)
    again = sources("spark_catalog", "s", pins=pins)
    name = TableName("s", "t")
    found = [one.facts(name) for one in (there, here, again)]
    assert [facts.table_id for facts in found if facts] == [
        "spark_catalog.s.t",
        "other.s.t",
        "spark_catalog.s.t",
    ]
    assert found[0] is found[2]
    assert there.memory is here.memory
    assert pins.in_catalog("other").in_catalog("spark_catalog") is pins
    assert pins.in_catalog("other").instant(lambda: 5) == pins.instant(lambda: 7) == 5


def test_a_temporary_view_is_looked_at_each_time():
    """The next model of the run may have another one by that name, or none."""
    engine: Any = Session("spark_catalog", "s", temporary="t")
    pins = Pins()
    for temporary in ("t", ""):
        engine.temporary = temporary
        found = Sources(engine, pins, NOTHING_DECLARED, "s", DELTA_STATES).facts(TableName("", "t"))
        assert found is not None
        assert found.temporary is bool(temporary)
