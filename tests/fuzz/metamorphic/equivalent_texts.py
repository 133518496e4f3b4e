"""Equivalent texts of a query. Each alias of a random query is unique, so a rewrite cannot capture a name."""

from __future__ import annotations

import re
from collections.abc import Callable

import sqlglot
from sqlglot import exp

_OF_COLUMNS = re.compile(r"\b(c|g|m|w)(\d+)\b")


def parsed(sql: str) -> exp.Expr:
    return sqlglot.parse_one(sql, dialect="spark")


def printed(tree: exp.Expr) -> str:
    return tree.sql(dialect="spark")


def in_a_subquery(sql: str) -> str:
    return f"select * from ({sql}) as inner_query"


def renamed_aliases(sql: str) -> str:
    """Replace every alias, with several lengths, so that they sort differently."""
    return re.sub(
        r"\b(q|c|g|m|w|cte)(\d+)\b", lambda name: f"{'z' * (int(name[2]) % 3)}y{name[2]}{name[1]}", sql
    )


def numbered_columns(sql: str) -> str:
    """Name columns 1, 2, …, like the numbers in names of hidden columns."""
    return _OF_COLUMNS.sub(r"`\2`", sql)


def columns_like_tables(sql: str) -> str:
    """Name columns q1, q2, …, like tables in delta SQL."""
    return _OF_COLUMNS.sub(r"q\2", sql)


def inlined_ctes(sql: str) -> str:
    """Replace each reference to a CTE by its query."""
    tree = parsed(sql)
    clause = tree.args.get("with_")
    if clause is None:
        return sql
    ctes = {cte.alias: cte for cte in clause.expressions}
    tree.set("with_", None)
    while used := [table for table in tree.find_all(exp.Table) if table.name in ctes]:
        for table in used:
            cte = ctes[table.name].copy()
            alias = exp.TableAlias(
                this=exp.to_identifier(table.alias_or_name), columns=cte.args["alias"].columns
            )
            table.replace(exp.Subquery(this=cte.this, alias=alias))
    return printed(tree)


def outlined_subqueries(sql: str) -> str:
    """Turn each derived table into a CTE, unless it is LATERAL."""
    tree = parsed(inlined_ctes(sql))
    ctes: list[tuple[str, exp.Expr]] = []
    while (found := next(filter(_is_innermost, tree.find_all(exp.Subquery)), None)) is not None:
        name = f"outlined_{len(ctes) + 1}"
        ctes.append((name, found.this))
        found.replace(exp.Table(this=exp.to_identifier(name), alias=found.args["alias"].copy()))
    texts = ", ".join(f"{name} as ({printed(body)})" for name, body in ctes)
    return f"with {texts} {printed(tree)}" if ctes else sql


def turned_joins(sql: str) -> str:
    """Exchange the sides of each FROM's first inner join."""
    tree = parsed(sql)
    for select in list(tree.find_all(exp.Select)):
        joins = select.args.get("joins") or []
        first = select.args.get("from_")
        if not joins or first is None or not _may_turn(joins[0]) or select.is_star:
            continue
        left, right = first.this.copy(), joins[0].this.copy()
        first.set("this", right)
        joins[0].set("this", left)
    return printed(tree)


def in_as_exists(sql: str) -> str:
    """Replace x IN (SELECT y …) as a conjunct of WHERE, where NULL and FALSE are equivalent."""
    tree = parsed(sql)
    for test in list(tree.find_all(exp.In)):
        query = test.args.get("query")
        if query is None or not _is_conjunct(test):
            continue
        select = query.this.copy()
        (value,) = select.expressions
        plain = value.this if isinstance(value, exp.Alias) else value
        equal = exp.EQ(this=exp.paren(plain.copy()), expression=exp.paren(test.this.copy()))
        select.set("expressions", [exp.Literal.number(1)])
        test.replace(exp.Exists(this=select.where(equal)))
    return printed(tree)


REWRITES: tuple[Callable[[str], str], ...] = (
    in_a_subquery,
    renamed_aliases,
    numbered_columns,
    columns_like_tables,
    inlined_ctes,
    outlined_subqueries,
    turned_joins,
    in_as_exists,
)


def _is_innermost(node: exp.Subquery) -> bool:
    """Whether it is a derived table in FROM that contains no other one."""
    in_from = isinstance(node.parent, (exp.From, exp.Join))
    inside = (
        inner for inner in node.this.find_all(exp.Subquery) if isinstance(inner.parent, (exp.From, exp.Join))
    )
    return in_from and bool(node.alias) and next(inside, None) is None


def _may_turn(join: exp.Join) -> bool:
    inner = not join.side and join.kind in ("", "INNER", "CROSS") and not join.args.get("using")
    return inner and not isinstance(join.this, exp.Lateral)


def _is_conjunct(node: exp.Expr) -> bool:
    parent = node.parent
    while isinstance(parent, (exp.And, exp.Paren)):
        parent = parent.parent
    return isinstance(parent, exp.Where)
