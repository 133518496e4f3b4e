"""The names of a project's nodes: those that operations accept, and those of their relations."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from dbt.adapters.sparkivm.operations import OperationsMixin
from dbt.adapters.sparkivm.project_nodes import (
    name_of_node,
    names_in_project,
    relations,
    table_name,
)
from dbt_common.exceptions import CompilationError

from sparkivm.names import TableName


def test_model():
    node = SimpleNamespace(
        resource_type="model", unique_id="model.shop.sums", name="sums", alias="s", version=None
    )
    assert names_in_project(node) == ("model.shop.sums", "sums")


def test_version_of_a_model():
    """The name alone means all versions; a number or an alias selects one."""
    node = SimpleNamespace(
        resource_type="model", unique_id="model.shop.sums.v2", name="sums", alias="sums_v2", version=2
    )
    assert names_in_project(node) == ("model.shop.sums.v2", "sums", "sums.v2", "sums_v2")


def test_source():
    node = SimpleNamespace(
        resource_type="source", unique_id="source.p.shop.orders", name="orders", source_name="shop"
    )
    assert names_in_project(node) == ("source.p.shop.orders", "shop.orders")


def test_a_schema_with_its_catalog():
    """dbt-spark knows no catalogs, so projects write them before the schema."""
    source = SimpleNamespace(resource_type="source", schema="pg.public", identifier="orders")
    model = SimpleNamespace(resource_type="model", schema="gold", alias="sums")
    manifest = SimpleNamespace(sources={"s": source}, nodes={"m": model})
    assert [name for _, name in relations(manifest)] == [
        TableName("public", "orders", "pg"), TableName("gold", "sums"),
    ]  # fmt: skip
    assert name_of_node(model).sql == "`gold`.`sums`"


@pytest.mark.parametrize(
    ("schema", "identifier", "name"),
    [
        ("shop", "`raw-log`", TableName("shop", "raw-log")),
        ("`my shop`", "`a.b`", TableName("my shop", "a.b")),
        ("`lake`.`my.shop`", "log", TableName("my.shop", "log", "lake")),
        ("lake.eu.shop", "log", TableName("eu.shop", "log", "lake")),
        ("shop", "`tick``s`", TableName("shop", "tick`s")),
        ("shop", "a`b", TableName("shop", "a`b")),
    ],
)
def test_names_in_backticks(schema, identifier, name):
    """dbt-spark writes names into SQL without quotes, so projects quote those with a sign themselves."""
    assert table_name(schema, identifier) == name


class Adapter(OperationsMixin):
    """Of a project whose models are in a schema with its catalog."""

    date_function = None
    node = SimpleNamespace(to_dict=lambda: {"name": "sums", "schema": "lake.gold"})

    def _options(self, model):
        return None

    def _view_node(self, model):
        return self.node

    def _with_sql(self, node, materialized=None):
        return node


def test_a_view_is_in_the_session_catalog():
    """A refresh and explain say the same; so does a check (tests/check/test_project.py)."""
    adapter = Adapter.__new__(Adapter)
    message = "write gold, and name the catalog of its state in state_catalog"
    with pytest.raises(CompilationError, match=message):
        adapter.validate_incremental_view(adapter.node.to_dict())
    with pytest.raises(CompilationError, match=message):
        adapter.explain_incremental_view("sums")
