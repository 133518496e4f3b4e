"""Maintenance statements in hooks: a view has no files, so OPTIMIZE of the model means its state.

tested  tests/adapter/test_hooks_on_state.py
"""

from __future__ import annotations

import re

from sparkivm.names import TableName, unquoted

_COMMENTS = r"(?:\s|--[^\n]*\n|/\*.*?\*/)*"
_PART = r"(?:`(?:[^`]|``)+`|\w+)"
_NAME = rf"{_PART}(?:\s*\.\s*{_PART})*"
_OF_TABLES = re.compile(
    rf"(?P<before>{_COMMENTS}(?:optimize|vacuum|analyze\s+table)\s+)(?P<name>{_NAME})", re.I | re.S
)
_PROCEDURES = "rewrite_data_files|rewrite_manifests|rewrite_position_delete_files|compute_table_stats"
_CALLS = re.compile(
    rf"(?P<before>{_COMMENTS}call\s+(?P<path>(?:{_PART}\s*\.\s*)*)(?:{_PROCEDURES})\s*"
    rf"\(\s*(?:.*?\btable\s*=>\s*)?)(?P<quote>['\"])(?P<name>{_NAME})(?P=quote)",
    re.I | re.S,
)
_OF_VIEWS = "spark_catalog"  # each view is in this catalog


def on_state(hook: str, view: TableName, state: TableName) -> str:
    """A hook's statement, about the state if it maintains the view.

    These are OPTIMIZE, VACUUM, ANALYZE TABLE, and those procedures of Iceberg that change no row.
    """
    if (found := _OF_TABLES.match(hook)) and _is(_parts(found["name"]), view):
        return f"{found['before']}{state.sql}{hook[found.end() :]}"
    if (found := _CALLS.match(hook)) and _is(_named_in_call(found, state), view):
        return f"{found['before']}'{state.sql}'{hook[found.end() :]}"
    return hook


def _parts(name: str) -> list[str]:
    return [unquoted(part).lower() for part in re.findall(_PART, name)]


def _named_in_call(call: re.Match[str], state: TableName) -> list[str]:
    """A procedure's table; without a catalog it is in that of the procedure."""
    name, path = _parts(call["name"]), _parts(call["path"])
    catalog = path[0] if len(path) > 1 else _OF_VIEWS
    is_the_states = catalog == (state.catalog or "").lower()  # its users write {{ this }} there
    return name if len(name) > 2 or is_the_states else [catalog, *name]


def _is(name: list[str], view: TableName) -> bool:
    own = [view.schema.lower(), view.identifier.lower()]
    return name in (own, [_OF_VIEWS, *own])
