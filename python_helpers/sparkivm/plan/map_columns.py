"""Which columns of a view Spark cannot join by, and deltas that keep the order of the entries of a MAP.

Spark sorts the entries of a MAP by which it groups. Without this pass, a consolidated delta would have them
in another order than the sources, and so another `map_keys(m)[0]` or `to_json(m)`.

tested  tests/unit/test_map_columns.py, tests/spark/test_map_order.py
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sqlglot import exp

from sparkivm.algebra import Consolidate, Relation, Scalar, Scan, UnionAll
from sparkivm.algebra.relation import rewrite
from sparkivm.algebra.scan import Leaf
from sparkivm.algebra.sql_expression import expression
from sparkivm.engine import Field
from sparkivm.errors import NotIncremental
from sparkivm.plan.state import STAGED, STATE
from sparkivm.plan.types_of import MapTypes, OriginTypes, TypesOf, column_types
from sparkivm.reasons import Fallback, Reason
from sparkivm.spark.data_types import VOID, SparkType
from sparkivm.spark.equal_values import in_entry_order

_UNJOINABLE = ("map", "json", "variant")  # in the names of functions that return them, and of types


def origin_types(core: Relation, tables: Mapping[str, Sequence[Field]], types_of: TypesOf) -> OriginTypes:
    """The types of a core's columns, at any depth, where they come from.

    Asks Spark for the types of computed columns, but only if a source or an expression may have a type by
    which Spark cannot join: MAP, VARIANT, NULL without a type.
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
    is_null = not scalar.columns and scalar.tree.find(exp.Null) is not None
    return is_null or any(word in text for word in _UNJOINABLE)


def map_types(types: OriginTypes) -> MapTypes:
    """The columns that hold a MAP, by name.

    Raises: NotIncremental if a name stands for a MAP in one place, and for another type elsewhere.
    """
    found: dict[str, SparkType] = {}
    for (_, name), type_ in types.items():
        known = found.setdefault(name, type_)
        if known != type_ and (known.holds_map or type_.holds_map):
            detail = f"{name} is of type {known} in one part of the query, and {type_} in another"
            raise NotIncremental(Fallback(Reason.TYPE_NOT_SUPPORTED, detail))
    return tuple((name, type_) for name, type_ in found.items() if type_.holds_map)


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


def keep_map_order(delta: Relation, types: MapTypes, stored_as: Mapping[str, str]) -> Relation:
    """The same delta, in which maps with another order of entries are different values.

    types      of the core's columns that hold a MAP
    stored_as  the core's columns by the names that they have in the state and in its changes
    """
    if not types:
        return delta
    of_core = dict(types)

    def type_of(relation: Relation, name: str) -> SparkType | None:
        node, column = relation.origin(name)
        if isinstance(node, UnionAll):
            at = node.columns.index(column)
            found = (type_of(child, child.columns[at]) for child in node.inputs)
            return next((type_ for type_ in found if type_), None)
        if isinstance(node, Scan) and node.table in (STATE, STAGED):
            column = dict(node.fields)[column]
            column = stored_as.get(column, column)
        return of_core.get(column)

    def told_apart(node: Relation) -> Relation:
        if not isinstance(node, Consolidate):
            return node
        maps = [(name, type_) for name in node.columns if (type_ := type_of(node.input, name))]
        return replace(node, told_apart=tuple((name, _entries(name, type_)) for name, type_ in maps))

    return rewrite(delta, told_apart)


def _entries(name: str, type_: SparkType) -> Scalar:
    return expression(in_entry_order("x", type_), x=name)
