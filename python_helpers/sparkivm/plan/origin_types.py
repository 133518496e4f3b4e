"""The types of a view's columns where they come from, to find those by which Spark cannot join.

tested  tests/unit/test_map_columns.py, tests/spark/test_literals.py
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from sparkivm.algebra import Relation, Scalar, Scan, UnionAll
from sparkivm.algebra.scan import Leaf
from sparkivm.engine import Field
from sparkivm.plan.types_of import OriginTypes, TypesOf, column_types
from sparkivm.spark.data_types import VOID, SparkType

# In the names of functions that return them, and of types.
_UNJOINABLE = ("map", "json", "variant", "interval")


def origin_types(core: Relation, tables: Mapping[str, Sequence[Field]], types_of: TypesOf) -> OriginTypes:
    """The types of a core's columns, at any depth, where they come from.

    Asks Spark for the types of computed columns, but only if a source or an expression may have a type by
    which Spark cannot join: MAP, VARIANT, calendar interval, NULL without a type.
    """
    found: dict[tuple[Relation, str], SparkType] = {}
    computed: list[tuple[Relation, str]] = []
    for node in core.walk():
        if isinstance(node, Scan):
            types = {field.name: field.spark_type for field in tables[node.table]}
            found |= {(node, name): types[source] for name, source in node.fields}
        elif not isinstance(node, (Leaf, UnionAll)):
            computed += [(node, name) for name in node.columns if node.source_of(name) is None]
    scalars = (scalar for node in core.walk() for scalar in node.scalars)
    is_some = any(not type_.joinable for type_ in found.values()) or any(map(_may_be_unjoinable, scalars))
    if computed and is_some:
        found |= zip(computed, column_types(computed, types_of), strict=True)
    return found


def _may_be_unjoinable(scalar: Scalar) -> bool:
    text = scalar.sql("spark").lower()
    is_null = any(not isinstance(null.parent, exp.Is) for null in scalar.tree.find_all(exp.Null))
    return is_null or any(word in text for word in _UNJOINABLE)


def unjoinable_type(relation: Relation, name: str, types: OriginTypes) -> SparkType | None:
    """The type of a column by which Spark cannot join; None if it can."""
    origin = relation.origin(name)
    node, column = origin
    if isinstance(node, UnionAll):
        at = node.columns.index(column)
        found = [unjoinable_type(child, child.columns[at], types) for child in node.inputs]
        if None in found:  # NULL takes the type of the other branches
            found = [type_ for type_ in found if type_ != VOID]
        return next((type_ for type_ in found if type_), None)
    type_ = types.get(origin)
    return None if type_ is None or type_.joinable else type_
