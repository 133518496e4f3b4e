"""Queries with the columns of what dbt itself makes: seeds and snapshots."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dbt.adapters.base.impl import BaseAdapter

from sparkivm.names import quoted


def query_of_seed(adapter: BaseAdapter, node: Any, manifest: Any) -> str:
    """A query with the columns that `dbt seed` gives a table for a file."""
    # dbt finds and reads the file, also that of a package.
    from dbt.context.providers import generate_runtime_model_context

    table = generate_runtime_model_context(node, adapter.config, manifest)["load_agate_table"]()
    types: Mapping[str, str] = node.config.column_types
    columns = (
        f"cast(null as {types.get(name) or adapter.convert_type(table, number)}) as {quoted(name)}"
        for number, name in enumerate(table.column_names)
    )
    return f"select {', '.join(columns)}"


def query_of_snapshot(node: Any, sql: str) -> str:
    """A query with the columns that `dbt snapshot` gives a new table, over the snapshot's own query."""
    moment = str(node.config.updated_at or "current_timestamp()")
    values = dict.fromkeys(("dbt_updated_at", "dbt_valid_from", "dbt_valid_to"), moment)
    values["dbt_scd_id"] = "''"
    if node.config.get("hard_deletes") == "new_record":
        values["dbt_is_deleted"] = "''"
    called = node.config.snapshot_table_column_names
    added = ", ".join(f"{value} as {quoted(called[name])}" for name, value in values.items())
    return f"select *, {added} from (\n{sql}\n) as snapshotted"
