"""Column descriptions are written into a public view once, and again only if they or the view changed."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from dbt.adapters.sparkivm import incremental_view
from dbt.adapters.sparkivm.column_docs import ColumnDoc, ColumnDocs
from dbt.adapters.sparkivm.incremental_view import IncrementalViewMixin

from sparkivm.engine import Engine, Field, RelationFacts
from sparkivm.names import TableName

NAME = TableName("s", "v")


class OneView(Engine):
    """Has the view v(a, b). Its statement is the macro's arguments."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.comments: dict[str, str] = {}
        self.replaced({"sparkivm.model": "m"})

    def replaced(self, properties: dict[str, str]) -> None:
        """As a refresh does it, without comments of columns."""
        fields = (Field("a", "int"), Field("b", "int"))
        self.facts = RelationFacts(NAME, "view", fields, properties=properties, view_text="select")
        self.comments = {}

    def describe(self, name: TableName) -> RelationFacts:
        self.calls.append("describe")
        return self.facts

    def render(self, macro: str, **arguments: Any) -> Any:
        return arguments

    def execute(self, sql: Any) -> None:
        self.calls.append("create")
        self.replaced(dict(sql["tblproperties"]))
        self.comments = sql["column_comments"]


@pytest.fixture
def engine(monkeypatch):
    monkeypatch.setattr(incremental_view, "name_of_relation", lambda relation: NAME)
    return OneView()


def persist(engine: OneView, *docs: ColumnDoc) -> list[str]:
    """Returns: what was done."""
    options = SimpleNamespace(column_docs=ColumnDocs(docs), comment="")
    adapter: Any = SimpleNamespace(_options=lambda model: options, ivm_engine=lambda: engine)
    engine.calls.clear()
    IncrementalViewMixin.persist_incremental_view_docs(adapter, NAME, {})  # type: ignore[arg-type]
    return engine.calls[:]


def test_they_are_written_once(engine):
    assert persist(engine, ColumnDoc("A", "It's a.")) == ["describe", "create"]
    assert persist(engine, ColumnDoc("A", "It's a.")) == ["describe"]
    assert engine.comments == {"a": "It's a.", "b": ""}
    assert engine.facts.properties["sparkivm.model"] == "m"


@pytest.mark.parametrize("docs", [[ColumnDoc("a", "B.")], [ColumnDoc("b", "A.")], [ColumnDoc("a")]])
def test_other_descriptions_are_written(engine, docs):
    persist(engine, ColumnDoc("a", "A."))
    assert persist(engine, *docs) == ["describe", "create"]
    assert engine.comments == ColumnDocs(tuple(docs)).comments("ab")
    assert persist(engine, *docs) == ["describe"]


def test_a_view_that_a_refresh_replaced_gets_them_again(engine):
    persist(engine, ColumnDoc("a", "A."))
    engine.replaced({"sparkivm.model": "m"})
    assert persist(engine, ColumnDoc("a", "A.")) == ["describe", "create"]
    assert engine.comments["a"] == "A."


def test_columns_without_descriptions_are_no_reason_to_replace_the_view(engine):
    assert persist(engine, ColumnDoc("a"), ColumnDoc("b")) == ["describe"]


def test_without_columns_nothing_is_asked(engine):
    assert persist(engine) == []
