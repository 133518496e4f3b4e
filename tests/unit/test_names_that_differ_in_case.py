"""Some catalogs have two tables whose names differ only in case; a view never reads one for the other."""

from __future__ import annotations

from typing import Any

import pytest

from sparkivm.changes.source_declaration import DeclaredSources
from sparkivm.engine import Field, RelationFacts
from sparkivm.errors import ModelError
from sparkivm.formats.delta_states import DELTA_STATES
from sparkivm.names import TableName
from sparkivm.refresh.sources.pins import Pins
from sparkivm.refresh.sources.sources import Sources


class Catalogs:
    """`hive` and `spark_catalog` ignore case, `rest` does not. `t` is a table, `v` a view, `p` has no versions."""

    def namespace(self) -> tuple[str, ...]:
        return ("spark_catalog", "s")

    def invalidate(self, name: TableName) -> None:
        pass

    def describe(self, name: TableName) -> RelationFacts | None:
        identifier = name.identifier if name.catalog == "rest" else name.identifier.lower()
        if identifier not in ("t", "T", "v", "p", "Orders"):
            return None
        fields = (Field("a", "int"),)
        if identifier == "v":
            return RelationFacts(name, "view", fields, view_text="select 1 as a")
        if identifier == "p":
            return RelationFacts(name, "other", fields)
        kind: Any = "iceberg" if name.catalog else "delta"
        return RelationFacts(
            name, kind, fields, table_id=f"id of {identifier}", version=1, commit_id="snapshot:1:0"
        )


def looked_up(catalog: str | None, *names: str) -> list[str]:
    """The tables that names refer to, in one run."""
    engine: Any = Catalogs()
    declared = DeclaredSources("s", {"hive.s.p": {"mirror": False}})
    sources = Sources(engine, Pins(), declared, "s", DELTA_STATES)
    found = [sources.facts(TableName("s", name, catalog)) for name in names]
    return [(facts.table_id or facts.view_text) if facts else "" for facts in found]


def test_catalogs_that_ignore_case():
    assert looked_up(None, "t", "T") == ["id of t", "id of t"]
    assert looked_up("hive", "t", "T", "T") == ["id of t", "id of t", "id of t"]
    assert looked_up("hive", "v", "V") == ["select 1 as a", "select 1 as a"]


def test_a_catalog_with_two_tables():
    with pytest.raises(ModelError, match=r"rest\.s\.T and rest\.s\.t may be two tables"):
        looked_up("rest", "t", "T")


def test_a_name_that_a_catalog_does_not_have():
    assert looked_up("rest", "Orders", "orders") == ["id of Orders", ""]


def test_a_table_without_an_id():
    with pytest.raises(ModelError, match="spell one table in one way"):
        looked_up("hive", "p", "P")
