"""ORDER BY, LIMIT and OFFSET: their keys and numbers."""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot import exp

from sparkivm.algebra import Relation, Scalar
from sparkivm.algebra.query import SortKey
from sparkivm.algebra.scalar import column
from sparkivm.errors import NotIncremental
from sparkivm.frontend.accepted_expressions import check_accepted
from sparkivm.frontend.expressions import direction, resolve
from sparkivm.frontend.place import not_deterministic, not_supported, not_understood
from sparkivm.frontend.scope import Scope, Visible


def sort_key(node: exp.Expr, name: str) -> SortKey:
    """The sort key of an item of ORDER BY whose values are in a column."""
    return SortKey(name, *direction(node))


def output_key(node: exp.Expr, visible: list[Visible]) -> Scalar:
    """An item of ORDER BY over a set operation, as an expression over the output columns."""
    tree = node.this if isinstance(node, exp.Ordered) else node
    position = ordinal(tree, len(visible), "ORDER BY")
    if position is not None:
        return column(visible[position - 1][1])
    resolved = resolve(tree, Scope(list(visible)))
    check_accepted(resolved)
    return Scalar(resolved)


def ordinal(tree: exp.Expr, count: int, clause: str) -> int | None:
    """The position from 1 that an integer literal means in GROUP BY or ORDER BY; None for other expressions.

    Spark ignores parentheses around it.
    """
    number = tree.unnest()
    if not isinstance(number, exp.Literal) or number.is_string or not number.this.isdigit():
        return None
    position = int(number.this)
    if not 0 < position <= count:
        raise not_understood(f"{clause} {position}", tree)
    return position


def by_all(sort: list[exp.Expr], count: int, names: Iterable[str]) -> list[exp.Expr]:
    """ORDER BY ALL as the positions of all `count` columns; `names` are those that a key may use."""
    if len(sort) != 1 or not isinstance(sort[0].this, exp.Var) or sort[0].this.name.upper() != "ALL":
        return sort
    must_be_no_name(names, sort[0])
    keys = [sort[0].copy() for _ in range(count)]
    for position, key in enumerate(keys, 1):
        key.set("this", exp.Literal.number(position))
    return keys


def must_be_no_name(names: Iterable[str], node: exp.Expr) -> None:
    """Refuse a column named ALL: Spark then takes GROUP BY ALL and ORDER BY ALL for that column."""
    if any(name.lower() == "all" for name in names):
        raise not_understood("ALL is the name of a column", node)


def number_of(tree: exp.Query, clause: str) -> int | None:
    """The number of a LIMIT or OFFSET; None without one, and for LIMIT ALL."""
    node = tree.args.get(clause)
    if node is None:
        return None
    value = node.expression
    if isinstance(value, exp.Var) and value.name.upper() == "ALL":
        return None
    if isinstance(value, exp.Literal) and not value.is_string and value.this.isdigit():
        return int(value.this)
    raise not_supported(f"{clause.upper()} that is not an integer literal", node)


def takes_all(relation: Relation, offset: int | None) -> bool:
    """Whether OFFSET and a LIMIT above 0 leave no choice, because there is at most one row."""
    return not offset and relation.at_most_one_row


def any_rows(tree: exp.Query) -> NotIncremental:
    """The refusal of a LIMIT without an order."""
    return not_deterministic(
        "LIMIT without ORDER BY takes arbitrary rows: add ORDER BY", tree.args.get("limit") or tree
    )


def takes_some(tree: exp.Query) -> bool:
    """Whether a query has a LIMIT or OFFSET."""
    return number_of(tree, "limit") is not None or number_of(tree, "offset") is not None
