"""The columns of a state after a refresh: a different column with a known name would give wrong rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from sparkivm.engine import Field
from sparkivm.spark.data_types import SparkType, spark_type

# Per column (name, type, id that distinguishes it from others of that name); "" for what is not known.
StateColumns = tuple[tuple[str, str, str], ...]


def columns_of(fields: Iterable[Field]) -> StateColumns:
    """The columns of a table, or of the query from which it will be created."""
    return tuple((f.name, f.type if _is_certain(f.spark_type) else "", f.mapped_to) for f in fields)


def as_stored(columns: StateColumns, stored: Callable[[SparkType], SparkType]) -> StateColumns:
    """The columns of a query, as those of a table that is created from it."""
    return tuple((name, type_ and str(stored(spark_type(type_))), id_) for name, type_, id_ in columns)


def with_ids(columns: StateColumns, ids: Mapping[str, str]) -> StateColumns:
    """The columns with the ids that were not known; these by the columns' names in lower case."""
    return tuple((name, type_, id_ or ids.get(name.lower(), "")) for name, type_, id_ in columns)


def difference(known: StateColumns, now: StateColumns) -> str:
    """How columns differ from the known ones; "" if they do not."""
    names_known, names_now = ([name for name, *_ in columns] for columns in (known, now))
    if names_known != names_now:
        return f"its columns are {', '.join(names_now)}, and were {', '.join(names_known)}"
    for (name, type_known, id_known), (_, type_now, id_now) in zip(known, now, strict=True):
        if type_known and type_now and type_known != type_now:
            return f"its column {name} is {type_now}, and was {type_known}"
        if id_known and id_now and id_known != id_now:
            return f"its column {name} was replaced by another one of that name"
    return ""


def _is_certain(type_: SparkType) -> bool:
    """Whether a table keeps the type of its query, and each engine prints it alike."""
    return not any(
        part.word in ("", "void") or (part.word == "string" and part.detail) for part in type_.walk()
    )
