"""Which columns of a view hold a MAP, and deltas that keep the order of their entries.

Spark sorts the entries of a MAP by which it groups. Without this pass, a consolidated delta would have them
in another order than the sources, and so another `map_keys(m)[0]` or `to_json(m)`.

tested  tests/unit/test_map_columns.py, tests/spark/test_map_order.py
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sparkivm.algebra import Consolidate, Relation, Scalar, Scan, UnionAll
from sparkivm.algebra.relation import rewrite
from sparkivm.algebra.sql_expression import expression
from sparkivm.errors import NotIncremental
from sparkivm.plan.state import STAGED, STATE
from sparkivm.plan.types_of import MapTypes, OriginTypes
from sparkivm.reasons import Reason
from sparkivm.spark.data_types import SparkType
from sparkivm.spark.equal_values import in_entry_order


def map_types(types: OriginTypes) -> MapTypes:
    """The columns that hold a MAP, by name.

    Raises: NotIncremental if a name stands for a MAP in one place, and for another type elsewhere.
    """
    found: dict[str, SparkType] = {}
    for (_, name), type_ in types.items():
        known = found.setdefault(name, type_)
        if known != type_ and (known.holds_map or type_.holds_map):
            detail = f"{name} is of type {known} in one part of the query, and {type_} in another"
            raise NotIncremental(Reason.TYPE_NOT_SUPPORTED, detail)
    return tuple((name, type_) for name, type_ in found.items() if type_.holds_map)


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
            found = (type_of(child, column) for child in node.inputs)
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
