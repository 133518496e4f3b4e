"""The compiler's questions to Spark about the types of expressions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from sparkivm.algebra import Aggregate, InnerJoin, Project, Relation
from sparkivm.algebra.project import renamed
from sparkivm.spark.data_types import SparkType

MapTypes = tuple[tuple[str, SparkType], ...]  # columns that hold a MAP, with their types
OriginTypes = Mapping[tuple[Relation, str], SparkType]  # of columns, by the operator that makes them
TypesOf = Callable[[Relation], tuple[SparkType, ...]]  # of a relation's columns, in order


def argument_types(aggregate: Aggregate, types_of: TypesOf) -> list[SparkType | None]:
    """The types of the arguments of calls that need them; None for other calls."""
    asked = [call.argument if call.called.asks_type else None for call in aggregate.calls]
    arguments = [argument for argument in asked if argument is not None]
    if not arguments:
        return [None for _ in asked]
    computed = Project(aggregate.input, tuple((f"a{i}", argument) for i, argument in enumerate(arguments)))
    types = iter(types_of(computed))
    return [None if argument is None else next(types) for argument in asked]


def column_types(columns: Sequence[tuple[Relation, str]], types_of: TypesOf) -> tuple[SparkType, ...]:
    """The types of columns of different relations, in one question to Spark."""
    alone = [renamed(relation, [(f"c{i}", name)]) for i, (relation, name) in enumerate(columns)]
    return types_of(InnerJoin(tuple(alone), ()) if len(alone) > 1 else alone[0])
