"""The model's text, in which a table expression replaces each change log."""

from __future__ import annotations

from typing import Any

import pytest

from sparkivm.changes.source_declaration import DeclaredSources
from sparkivm.engine import EngineError, Field
from sparkivm.errors import DeclarationError, ModelError
from sparkivm.formats.delta_states import DELTA_STATES
from sparkivm.names import TableName
from sparkivm.refresh.sources.pins import Pins
from sparkivm.refresh.sources.sources import Sources

MODEL = TableName("s", "m")
META = {"key": "id", "change_log": {"order": "seq", "columns": ["id", "x"]}}


class Catalog:
    """One log with the columns seq, op, id, x. It records each query."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def schema_of(self, sql: str) -> tuple[Field, ...]:
        self.asked.append(sql)
        names = sql.removeprefix("select ").partition(" from ")[0].replace("`", "").split(", ")
        if unknown := set(names) - {"seq", "op", "id", "x"}:
            raise EngineError(f"no column {min(unknown)}")
        return tuple(Field(name, "int") for name in names)


def text(sql: str, meta: Any = META, catalog: Catalog | None = None) -> str:
    engine: Any = catalog or Catalog()
    return Sources(engine, Pins(), DeclaredSources(metas={"s.log": meta}), "s", DELTA_STATES).model_text(
        MODEL, sql
    )


def test_names_become_subqueries_in_their_lines():
    sql = "select a.id, log.x, t.y -- s.log\nfrom S.Log as a\njoin s.log on a.id = log.id\njoin s.t as t\nwhere a.x > 1"
    lines = text(sql).splitlines()
    assert len(lines) == 5
    assert lines[0] == "select a.id, log.x, t.y -- s.log"
    assert lines[1].startswith("from (select `id`, `x` from (select `id` as `id`")
    assert lines[1].endswith(") as a")
    assert ") as `log` on a.id = log.id" in lines[2]
    assert lines[3] == "join s.t as t"


def test_a_log_is_asked_for_once_and_only_if_it_may_be_read():
    catalog = Catalog()
    assert text("select 1 as a from s.t", catalog=catalog) == "select 1 as a from s.t"
    assert text("this is ] no SQL", catalog=catalog) == "this is ] no SQL"
    assert catalog.asked == []
    text("select id from s.log", catalog=catalog)
    assert catalog.asked == ["select `id`, `x`, `seq`, `op` from `s`.`log`"]


def test_other_relations_of_the_name():
    for sql in (
        "with log as (select 1 as id) select id from log",
        "select id from other.log",
        "select log from s.t",
    ):
        assert text(sql) == sql


@pytest.mark.parametrize(
    ("sql", "meta", "words"),
    [
        ("select id from s.log version as of 1", META, "has no versions"),
        ("select ] from s.log", META, "its tables cannot be determined"),
        ("select id from s.log", {**META, "key": "nr"}, "the key nr is not a column"),
        ("select id from s.log", {"key": "id", "change_log": {"order": "at"}}, "the log has no column"),
    ],
)
def test_mistakes(sql, meta, words):
    with pytest.raises((ModelError, DeclarationError)) as error:
        text(sql, meta)
    assert words in str(error.value)
