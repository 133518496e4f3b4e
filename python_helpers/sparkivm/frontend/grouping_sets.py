"""GROUP BY with ROLLUP, CUBE and GROUPING SETS: which keys each set of groups has.

γ_sets(A) = γ_{keys, g}(A × {0, 1, …}): each row once per set, with the set's number g and NULL for the keys
that the set leaves out. The number distinguishes a left-out key from a NULL key, and equal sets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import combinations, product

from sqlglot import exp

from sparkivm.algebra import InnerJoin, OneRow, Project, Relation, Scalar, UnionAll
from sparkivm.algebra.scalar import integer
from sparkivm.algebra.sql_expression import expression
from sparkivm.frontend.place import not_supported

_SETS = (exp.Rollup, exp.Cube, exp.GroupingSets)
_MOST_SETS = 128

Key = tuple[exp.Expr, str]  # resolved expression, wanted name


@dataclass(frozen=True)
class Grouping:
    """The keys of a GROUP BY, and the keys of each set if there are several."""

    keys: tuple[Key, ...]
    sets: tuple[frozenset[Scalar], ...] = ()


def read_grouping(group: exp.Group, key: Callable[[exp.Expr], Key]) -> Grouping:
    """A GROUP BY without ALL; `key` reads one expression of it."""
    after = [group.args.get(word) for word in ("rollup", "cube", "grouping_sets")]
    with_sets = [one for some in after for one in (some or ())]
    if not with_sets and not any(isinstance(node, _SETS) for node in group.expressions):
        return Grouping(tuple(map(key, group.expressions)))
    for node in group.expressions:
        if isinstance(node, exp.Tuple):
            raise not_supported(f"the tuple {node.sql(dialect='spark')} beside grouping sets", group)
    keys: dict[Scalar, Key] = {}

    def named(node: exp.Expr) -> list[Scalar]:
        found = []
        for part in _parts(node):
            tree, wanted = key(part)
            keys.setdefault(Scalar(tree), (tree, wanted))
            found.append(Scalar(tree))
        return found

    def sets_of(node: exp.Expr) -> list[list[Scalar]]:
        if isinstance(node, exp.GroupingSets):
            return [one for part in node.expressions for one in sets_of(part)]
        if not isinstance(node, (exp.Rollup, exp.Cube)):
            return [named(node)]
        parts = [named(part) for part in node.expressions]
        return _rolled_up(parts) if isinstance(node, exp.Rollup) else _cubed(parts)

    if with_sets and with_sets[0].expressions:  # GROUP BY a, b GROUPING SETS (…): the list makes no set
        for node in group.expressions:
            named(node)
        elements = [sets_of(with_sets[0])]
    elif with_sets:  # GROUP BY a, b WITH ROLLUP
        parts = [named(node) for node in group.expressions]
        elements = [_rolled_up(parts) if isinstance(with_sets[0], exp.Rollup) else _cubed(parts)]
    else:
        elements = [sets_of(node) for node in group.expressions]
    combined = [frozenset(scalar for one in some for scalar in one) for some in product(*elements)]
    if len(combined) > _MOST_SETS:
        raise not_supported(f"GROUP BY with more than {_MOST_SETS} grouping sets", group)
    return Grouping(tuple(keys.values()), tuple(combined))


def numbered(relation: Relation, number: str, count: int) -> Relation:
    """Each row once for each of the numbers below `count`."""
    numbers = UnionAll(tuple(Project(OneRow(), ((number, integer(i)),)) for i in range(count)))
    return InnerJoin((relation, numbers), ())


def ingredients(tree: exp.Expr) -> tuple[str, ...]:
    """The nodes of an expression, regardless of order: Spark takes a + b and b + a for one key."""
    turned: dict[type[exp.Expr], type[exp.Expr]] = {exp.GT: exp.LT, exp.GTE: exp.LTE}

    def own_name(node: exp.Expr) -> str:
        """Of an operator, sqlglot returns its first operand's."""
        return "" if isinstance(node, exp.Binary) and not isinstance(node, exp.Dot) else node.name.lower()

    return tuple(
        sorted(
            f"{turned.get(type(node), type(node)).__name__} {own_name(node)}"
            for node in tree.walk()
            if not isinstance(node, (exp.Paren, exp.Identifier))
        )
    )


def in_sets(number: str, sets: Iterable[int], then: Scalar, otherwise: str) -> Scalar:
    """`then` in the sets with these numbers, `otherwise` in the others."""
    listed = ", ".join(map(str, sets))
    return expression(f"case when g in ({listed or 'null'}) then x else {otherwise} end", g=number, x=then)


def _rolled_up(parts: list[list[Scalar]]) -> list[list[Scalar]]:
    return [[scalar for part in parts[:length] for scalar in part] for length in range(len(parts), -1, -1)]


def _cubed(parts: list[list[Scalar]]) -> list[list[Scalar]]:
    return [
        [scalar for part in some for scalar in part]
        for length in range(len(parts), -1, -1)
        for some in combinations(parts, length)
    ]


def _parts(node: exp.Expr) -> list[exp.Expr]:
    if isinstance(node, exp.Tuple):
        return list(node.expressions)
    return [node.this if isinstance(node, exp.Paren) else node]
