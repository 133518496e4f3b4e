"""An empty text in a partition column is an error, because Delta would store it as NULL, a different value.

source  Spark writes both as the partition value NULL (ExternalCatalogUtils.getPartitionValueString).
tested  tests/refresh/test_partition_values.py, tests/spark/test_protocol.py
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from sparkivm.names import literal, quoted
from sparkivm.spark.data_types import spark_type

_TEXTS = ("string", "varchar", "char", "binary")


def may_be_empty(columns: Iterable[tuple[str, str]], partitioned_by: Collection[str]) -> list[str]:
    """The partition columns whose values may be empty texts.

    columns  names and types; "" for an unknown type
    """
    named = {name.lower() for name in partitioned_by}
    texts = (name for name, type_ in columns if not type_ or spark_type(type_).word in _TEXTS)
    return [name for name in texts if name.lower() in named]


def refusing_empty(select: str, texts: Collection[str], columns: Collection[str] | None = None) -> str:
    """The same rows, with an error for an empty text.

    texts    columns that may have one
    columns  all columns of the result, in their order; None if any order will do
    """
    if not texts:
        return select
    checked = {name: f"{_checked(name)} as {quoted(name)}" for name in texts}
    if columns is None:
        items = [f"* except ({', '.join(map(quoted, texts))})", *checked.values()]
    else:
        items = [checked.get(name, quoted(name)) for name in columns]
    return f"select {', '.join(items)}\nfrom (\n{select}\n) as written"


def _checked(name: str) -> str:
    said = (
        f"The state is partitioned by {name}, and Delta stores an empty text there as NULL. Remove it from "
        f"partition_by, or let the model return nullif({name}, '')."
    )
    column = quoted(name)
    return f"if(length({column}) = 0, raise_error({literal(said)}), {column})"
