"""An empty text in a partition column is an error, because Delta would store it as NULL, a different value.

source  Spark writes both as the partition value NULL (ExternalCatalogUtils.getPartitionValueString).
tested  tests/refresh/test_partition_values.py, tests/spark/test_protocol.py
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sparkivm.names import literal, quoted
from sparkivm.spark.data_types import spark_type

_TEXTS = ("string", "varchar", "char", "binary")


def refusing_empty(
    select: str, columns: Sequence[tuple[str, str]], partitioned_by: Collection[str], *, in_order: bool
) -> str:
    """The same rows, with an error for an empty text in a partition column.

    columns   names and types of the result; "" for an unknown type
    in_order  whether the result has exactly these columns, in their order; else it may have others too
    """
    named = {name.lower() for name in partitioned_by}
    checked = {
        name: f"{_checked(name)} as {quoted(name)}"
        for name, type_ in columns
        if name.lower() in named and (not type_ or spark_type(type_).word in _TEXTS)
    }
    if not checked:
        return select
    if in_order:
        items = [checked.get(name, quoted(name)) for name, _ in columns]
    else:
        items = [f"* except ({', '.join(map(quoted, checked))})", *checked.values()]
    return f"select {', '.join(items)}\nfrom (\n{select}\n) as written"


def _checked(name: str) -> str:
    said = (
        f"The state is partitioned by {name}, and Delta stores an empty text there as NULL. Remove it from "
        f"partition_by, or let the model return nullif({name}, '')."
    )
    column = quoted(name)
    return f"if(length({column}) = 0, raise_error({literal(said)}), {column})"
