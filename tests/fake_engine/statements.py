"""Statements that change something, as in Delta: what they commit and log, and which are skipped."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import sqlglot
from sqlglot import exp
from sqlglot.tokenizer_core import TokenType

from sparkivm.engine import EngineError
from tests.fake_engine.alter import (
    add_columns,
    change_type,
    clone,
    comment_on,
    drop_column,
    move_first,
    optimize,
    rename_column,
    restore,
    set_properties,
    unset_properties,
    vacuum,
)
from tests.fake_engine.catalog import cache, create, drop, keep, rename, set_setting, use_schema
from tests.fake_engine.commits import Rows
from tests.fake_engine.database import parsed
from tests.fake_engine.session import Session
from tests.fake_engine.writes import delete, insert, merge, truncate, update

_QUERY_WORDS = ("select", "with", "show", "describe", "explain", "(", "values", "from")


def execute(session: Session, sql: str) -> Rows:
    """Run a statement in a session. Returns: its rows, if any."""
    sql = sql.strip().rstrip(";")
    if sql.lower().startswith(_QUERY_WORDS):
        return session.rows(sql)
    for pattern, run in _BY_TEXT:
        found = pattern.fullmatch(sql)
        if found is not None:
            return run(session, found) or ()
    tree = parsed(sql)
    tree.meta["query"] = _query_text(sql) if isinstance(tree, exp.Create) else ""
    run_tree = _BY_TREE.get(type(tree))
    if run_tree is None:
        raise EngineError(f"[PARSE_SYNTAX_ERROR] the fake engine does not know: {sql}")
    return run_tree(session, tree) or ()


def _query_text(sql: str) -> str:
    """The text after the first AS, as written."""
    tokens = sqlglot.tokenize(sql, read="spark")
    start = next((token.end + 1 for token in tokens if token.token_type is TokenType.ALIAS), len(sql))
    return sql[start:].strip()


def _nothing(session: Session, found: re.Match[str]) -> None:
    """A statement without visible effect."""


def _pattern(text: str) -> re.Pattern[str]:
    """A pattern in which `{x}` matches a name, and a blank any white space."""
    text = re.sub(r"{(\w+)}", lambda found: f"(?P<{found[1]}>(?:`[^`]*`|[^\\s(`])+)", text)
    return re.compile(re.sub(r" (?!\?)", r"\\s+", text).replace(" ?", r"\s*"), re.IGNORECASE | re.DOTALL)


_BY_TEXT: Sequence[tuple[re.Pattern[str], Callable[[Session, re.Match[str]], Rows | None]]] = (
    (_pattern(r"cache (?:lazy )?table {name}(?: options \([^)]*\))?(?: as (?P<select>.*))?"), cache),
    (_pattern(r"create global temporary view {name} as (?P<select>.*)"), keep),
    (_pattern(r"drop (?P<kind>table|view) (?P<if_exists>if exists )?{name}"), drop),
    (_pattern(r"alter (?:table|view) {name} rename to {new}"), rename),
    (_pattern(r"alter (?:table|view) {name} set tblproperties ?\((?P<properties>.*)\)"), set_properties),
    (
        _pattern(r"alter (?:table|view) {name} unset tblproperties if exists ?\((?P<names>.*)\)"),
        unset_properties,
    ),
    (_pattern(r"alter table {name} add columns? ?\((?P<columns>.*)\)"), add_columns),
    (_pattern(r"alter table {name} drop column {column}"), drop_column),
    (_pattern(r"alter table {name} rename column {column} to {new}"), rename_column),
    (_pattern(r"alter table {name} alter column {column} type {type}"), change_type),
    (_pattern(r"alter table {name} alter column {column} first"), move_first),
    (_pattern(r"comment on table {name} is .*"), comment_on),
    (_pattern(r"optimize {name}"), optimize),
    (_pattern(r"vacuum {name}.*"), vacuum),
    (_pattern(r"restore table {name} to version as of (?P<version>\d+)"), restore),
    (
        _pattern(
            r"create table {name} shallow clone {origin} version as of (?P<version>\d+)"
            r"(?: tblproperties ?\((?P<properties>.*)\))?"
        ),
        clone,
    ),
    (_pattern(r"create schema if not exists {name}"), _nothing),
    (_pattern(r"refresh table {name}"), _nothing),
    (_pattern(r"set (?P<name>[\w.`]+) ?= ?(?P<value>.*)"), set_setting),
    (_pattern(r"use {name}"), use_schema),
)
_BY_TREE: Mapping[type[exp.Expression], Callable[[Session, Any], Rows | None]] = {
    exp.Create: create,
    exp.Insert: insert,
    exp.Delete: delete,
    exp.Update: update,
    exp.Merge: merge,
    exp.TruncateTable: truncate,
}
