"""An empty text in a partition column is an error, because Delta would store it as NULL, a different value.

source  Spark writes both as the partition value NULL (ExternalCatalogUtils.getPartitionValueString).
tested  tests/refresh/test_partition_values.py, tests/spark/test_protocol.py
"""

from __future__ import annotations

from sparkivm.formats.state_format import RowsToWrite
from sparkivm.names import literal, quoted
from sparkivm.spark.data_types import spark_type

_TEXTS = ("string", "varchar", "char", "binary")


def refusing_empty(rows: RowsToWrite) -> str:
    """The SELECT of the same rows, with an error for an empty string in a partition column."""
    named = {name.lower() for name in rows.partitioned_by}
    checked = {
        name: f"{_checked(name)} as {quoted(name)}"
        for name, type_ in rows.columns
        if name.lower() in named and (not type_ or spark_type(type_).word in _TEXTS)
    }
    if not checked:
        return rows.select
    if rows.in_order:
        items = [checked.get(name, quoted(name)) for name, _ in rows.columns]
    else:
        items = [f"* except ({', '.join(map(quoted, checked))})", *checked.values()]
    return f"select {', '.join(items)}\nfrom (\n{rows.select}\n) as written"


def _checked(name: str) -> str:
    said = (
        f"The state is partitioned by {name}, and Delta stores an empty string there as NULL. Remove it from "
        f"partition_by, or let the model return nullif({name}, '')."
    )
    column = quoted(name)
    return f"if(length({column}) = 0, raise_error({literal(said)}), {column})"
