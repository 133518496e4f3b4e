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
from sparkivm.refresh.sources.source_catalog import SourceCatalog
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


def sources() -> Sources:
    engine: Any = Catalogs()
    declared = DeclaredSources("s", {"hive.s.p": {"mirror": False}})
    return Sources(engine, Pins(), declared, "s", DELTA_STATES)


def looked_up(catalog: str, *names: str) -> list[str]:
    """The tables that names refer to, in one model."""
    model = SourceCatalog(sources(), TableName("s", "m"), TableName("s", "m__ivm"), {})
    for name in names:
        model.lookup((catalog, "s", name), ())
    found = [model.facts(TableName("s", name, catalog)) for name in names]
    return [facts.table_id or facts.view_text for facts in found]


def test_catalogs_that_ignore_case():
    assert looked_up("other", "t", "T") == ["id of t", "id of t"]
    assert looked_up("hive", "t", "T", "T") == ["id of t", "id of t", "id of t"]
    assert looked_up("hive", "v", "V") == ["select 1 as a", "select 1 as a"]


def test_a_catalog_with_two_tables():
    with pytest.raises(ModelError, match=r"rest\.s\.T and rest\.s\.t may be two tables"):
        looked_up("rest", "t", "T")


def test_a_name_that_a_catalog_does_not_have():
    with pytest.raises(ModelError, match=r"there is no table or view rest\.s\.orders"):
        looked_up("rest", "Orders", "orders")


def test_a_table_without_an_id():
    run = sources()
    run.facts(TableName("s", "p", "hive"))
    with pytest.raises(ModelError, match="spell one table in one way"):
        run.facts(TableName("s", "P", "hive"))
