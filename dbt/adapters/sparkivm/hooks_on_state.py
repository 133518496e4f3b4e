"""Maintenance statements in hooks: a view has no files, so OPTIMIZE of the model means its state.

tested  tests/adapter/test_hooks_on_state.py
"""

from __future__ import annotations

import re

from sparkivm.names import TableName

_COMMENTS = r"(?:\s|--[^\n]*\n|/\*.*?\*/)*"
_PART = r"(?:`(?:[^`]|``)+`|\w+)"
_NAME = rf"{_PART}(?:\s*\.\s*{_PART})*"
_OF_TABLES = re.compile(
    rf"(?P<before>{_COMMENTS}(?:optimize|vacuum|analyze\s+table)\s+)(?P<name>{_NAME})", re.I | re.S
)
_PROCEDURES = "rewrite_data_files|rewrite_manifests|rewrite_position_delete_files|compute_table_stats"
_CALLS = re.compile(
    rf"(?P<before>{_COMMENTS}call\s+(?:{_PART}\s*\.\s*)*(?:{_PROCEDURES})\s*\(.*?\btable\s*=>\s*)'(?P<name>{_NAME})'",
    re.I | re.S,
)


def on_state(hook: str, view: TableName, state: TableName) -> str:
    """A hook's statement, about the state if it maintains the view.

    These are OPTIMIZE, VACUUM, ANALYZE TABLE, and those procedures of Iceberg that change no row.
    """
    if (found := _OF_TABLES.match(hook)) and _is(found["name"], view):
        return f"{found['before']}{state.sql}{hook[found.end() :]}"
    if (found := _CALLS.match(hook)) and _is(found["name"], view):
        return f"{found['before']}'{state.sql}'{hook[found.end() :]}"
    return hook


def _is(name: str, view: TableName) -> bool:
    parts = [part.strip("`").replace("``", "`").lower() for part in re.findall(_PART, name)]
    return parts[-2:] == [view.schema.lower(), view.identifier.lower()]
