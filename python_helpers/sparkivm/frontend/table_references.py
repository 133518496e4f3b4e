"""The relations that a SELECT names, with their places in the text, to read them at a fixed version."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sqlglot import exp

from sparkivm.errors import NotIncremental
from sparkivm.frontend.parse import parse_model


@dataclass(frozen=True)
class TableReference:
    """One mention of a table or view: the parts of its name, and the name's place [start, end)."""

    parts: tuple[str, ...]
    start: int
    end: int
    aliased: bool
    fixed: bool  # the text itself names a version


def table_references(tree: exp.Expr) -> list[TableReference] | None:
    """The tables that are not CTEs, in text order; None if a name or a place is not known."""
    found: dict[int, TableReference] = {}
    for table in tree.find_all(exp.Table):
        if isinstance(table.this, exp.Dot) or _is_computed(table.this):
            return None  # a.b.c.d
        # The names in a hint are aliases.
        if not isinstance(table.this, exp.Identifier) or table.find_ancestor(exp.Hint) or _is_cte(table):
            continue
        metas = [part.meta for part in table.parts]
        if any("start" not in meta for meta in metas):
            return None
        start, end = metas[0]["start"], metas[-1]["end"] + 1
        fixed = bool(table.args.get("version"))
        parts = tuple(part.name for part in table.parts)
        found[start] = TableReference(parts, start, end, bool(table.alias), fixed)
    return [found[start] for start in sorted(found)]


def references_in(name: object, sql: str) -> list[TableReference] | None:
    """The same for the text of a model or view; None also if the parser cannot read it."""
    try:
        return table_references(parse_model(name, sql))
    except NotIncremental:
        return None


def names_in(tree: exp.Expr) -> frozenset[str]:
    """All names in a query that may be values, in lower case: columns, fields, bare words.

    Names of relations and of called functions are left out.
    """
    found = {
        node.name.lower()
        for node in tree.find_all(exp.Identifier, exp.Var)
        if not isinstance(node.parent, (exp.Table, exp.TableAlias))
    }
    return frozenset(found)


def _is_computed(name: exp.Expr) -> bool:
    """Whether a name is IDENTIFIER('a' || '.b')."""
    return isinstance(name, exp.Anonymous) and str(name.this).lower() == "identifier"


def _is_cte(table: exp.Table) -> bool:
    """Whether a WITH around a mention defines its name; as in Spark, case does not matter."""
    if len(table.parts) > 1:
        return False
    node: exp.Expr = table
    while (parent := node.parent) is not None:
        if isinstance(parent, exp.With):  # a CTE sees those before it, and itself if it is recursive
            visible = parent.expressions[: (node.index or 0) + bool(parent.recursive)]
        else:
            clause = parent.args.get("with_")
            visible = [] if clause is None or clause is node else clause.expressions
        if any(cte.alias.lower() == table.name.lower() for cte in visible):
            return True
        node = parent
    return False


def replace_references(
    sql: str, references: list[TableReference], text_of: Callable[[TableReference], str | None]
) -> str:
    """The text with table names replaced; a name stays where `text_of` returns None."""
    pieces: list[str] = []
    position = 0
    for reference in references:
        text = text_of(reference)
        if text is not None:
            pieces += [sql[position : reference.start], text]
            position = reference.end
    return "".join([*pieces, sql[position:]])
