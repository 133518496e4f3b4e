"""Expressions over groups that hold a TINYINT or SMALLINT, which Iceberg stores as INT.

Spark derives the scale of a quotient and the range of a product from the types of the operands. So the
public view casts such a column of the state before an expression reads it.

tested  tests/unit/test_narrow_integers.py, tests/spark/test_iceberg_states.py
"""

from __future__ import annotations

from dataclasses import replace

from sparkivm.algebra import Aggregate, Project, Relation, Scalar
from sparkivm.algebra.scalar import column
from sparkivm.algebra.sql_expression import expression
from sparkivm.plan.split import Split
from sparkivm.plan.types_of import TypesOf


def with_narrow_integers(halves: Split, types_of: TypesOf) -> Split:
    """The halves, with these casts where readers compute an expression or a window over groups."""
    core = halves.core
    scalars = (*halves.output, *filter(None, [halves.having]), *(scalar for scalar, _ in halves.sort))
    computed = frozenset[str]().union(*(one.columns for one in scalars if one.as_column is None))
    if not isinstance(core, Aggregate) or not (halves.windows or computed.intersection(core.columns)):
        return halves
    casts = {
        name: expression(f"cast(x as {type_.cast_text})", x=name)
        for name, type_ in zip(core.columns, types_of(core), strict=True)
        if type_.holds("tinyint", "smallint")
    }
    if not casts:
        return halves
    if halves.windows is not None:
        return replace(halves, windows=_over(halves.windows, core, casts))

    def cast(scalar: Scalar) -> Scalar:
        return scalar if scalar.as_column else scalar.substitute(casts)

    return replace(
        halves,
        output=tuple(map(cast, halves.output)),
        having=halves.having and cast(halves.having),
        sort=tuple((cast(scalar), key) for scalar, key in halves.sort),
    )


def _over(node: Relation, core: Aggregate, casts: dict[str, Scalar]) -> Relation:
    """Windows and what is between them and the groups, over groups with casts."""
    if isinstance(node, Aggregate):
        return Project(core, tuple((name, casts.get(name, column(name))) for name in core.columns))
    return node.with_children(tuple(_over(child, core, casts) for child in node.children))
