"""Which relations a SELECT names, and where in its text: to read them at a fixed version."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sqlglot import exp
from sqlglot.optimizer.scope import traverse_scope


@dataclass(frozen=True)
class TableReference:
    """One mention of a table or view: its name's parts, and the name's place [start, end) in the text."""

    parts: tuple[str, ...]
    start: int
    end: int
    aliased: bool
    fixed: bool  # the text names a version of its own


def table_references(tree: exp.Expr) -> list[TableReference] | None:
    """The tables that are no CTEs, in the order of the text; None if a place is not known."""
    found: dict[int, TableReference] = {}
    ctes = {id(table) for table in _cte_references(tree)}
    for table in tree.find_all(exp.Table):
        if id(table) in ctes or not isinstance(table.this, exp.Identifier):
            continue
        metas = [part.meta for part in table.parts]
        if any("start" not in meta for meta in metas):
            return None
        start, end = metas[0]["start"], metas[-1]["end"] + 1
        fixed = bool(table.args.get("version") or table.args.get("when"))
        parts = tuple(part.name for part in table.parts)
        found[start] = TableReference(parts, start, end, bool(table.alias), fixed)
    return [found[start] for start in sorted(found)]


def _cte_references(tree: exp.Expr) -> list[exp.Table]:
    references = []
    for scope in traverse_scope(tree):
        for table in scope.tables:
            source = scope.sources.get(table.alias_or_name)
            if not isinstance(source, exp.Table) and len(table.parts) == 1:
                references.append(table)
    return references


def replace_references(
    sql: str, references: list[TableReference], text_of: Callable[[TableReference], str | None]
) -> str:
    """The text with table names replaced; where `text_of` is None a name stays."""
    pieces: list[str] = []
    position = 0
    for reference in references:
        text = text_of(reference)
        if text is not None:
            pieces += [sql[position : reference.start], text]
            position = reference.end
    return "".join([*pieces, sql[position:]])
