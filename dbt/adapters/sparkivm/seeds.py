"""The Python methods of the materialization `seed`: a seed in Delta or Iceberg keeps its table.

tested  tests/adapter/test_seeds.py, tests/dbt/test_seeds.py
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Mapping
from typing import Any
from weakref import WeakKeyDictionary

from dbt.adapters.base.meta import available
from dbt.adapters.base.relation import BaseRelation
from dbt.adapters.sparkivm.engine import MACROS
from dbt.adapters.sparkivm.incremental_view import IncrementalViewMixin, author_errors
from dbt.adapters.sparkivm.log import logger
from dbt.adapters.sparkivm.project_nodes import name_of_relation
from dbt.adapters.sparkivm.response import RefreshResponse
from dbt_common.exceptions import DbtRuntimeError

from sparkivm.formats import STATE_FORMATS
from sparkivm.marker import owner_of
from sparkivm.names import TableName
from sparkivm.refresh.operations.seed_table import SeedFile, SeedTable

# The options that dbt-spark's CREATE TABLE of a seed contains.
_OPTIONS = ("file_format", "partition_by", "clustered_by", "buckets", "location_root")
# Macros that decide what a seed's table is. If a project or an adapter has its own, we leave seeds to them.
_MACROS_OF_SEEDS = ("create_csv_table", "load_csv_rows", "reset_csv_table", "materialization_seed")
_KNOWN_PACKAGES = ("dbt", "dbt_spark", MACROS)


# The types of a file's columns, by its table in memory.
_TYPES: WeakKeyDictionary[Any, dict[int, str | None]] = WeakKeyDictionary()


class SeedMixin(IncrementalViewMixin):
    """The methods that the materialization calls; `rows` is dbt's table of the file."""

    @classmethod
    def convert_agate_type(cls, agate_table: Any, col_idx: int) -> str | None:
        """As dbt-spark does, which asks once per value; for numbers it reads the whole column each time."""
        known = _TYPES.setdefault(agate_table, {})
        if col_idx not in known:
            known[col_idx] = super().convert_agate_type(agate_table, col_idx)
        return known[col_idx]

    @available.parse(lambda *args, **kwargs: False)
    def keeps_seed_table(self, relation: BaseRelation, model: Mapping[str, Any], rows: Any) -> bool:
        """Whether the seed's table can stay. If not, or if we cannot tell, dbt replaces it."""
        if not self._may_keep(model):
            return False
        try:
            with author_errors():
                return self._seed_table(relation, model, rows).stays()
        except DbtRuntimeError as error:
            logger.debug(f"dbt replaces the table of seed {relation}: {error}")
            return False

    @available.parse_none
    def update_seed_table(
        self, relation: BaseRelation, model: Mapping[str, Any], rows: Any
    ) -> RefreshResponse | None:
        """Give a table that stays the rows of the file; None if a hook has dropped it meanwhile."""
        with author_errors():
            applied = self._seed_table(relation, model, rows).follow(
                lambda table: self._load(table, _types(self, model, rows), rows)
            )
        if applied is None:
            return None
        if not applied.came and not applied.gone:
            return RefreshResponse(_message="NO_OP", code="NO_OP", rows_affected=0, mode="no_op")
        return RefreshResponse(
            _message=f"INCREMENTAL +{applied.came} -{applied.gone}",
            code="INCREMENTAL",
            rows_affected=applied.came + applied.gone,
            mode="incremental",
            rows_inserted=applied.came,
            rows_deleted=applied.gone,
        )

    @available.parse_none
    def remember_seed_table(self, relation: BaseRelation, model: Mapping[str, Any], rows: Any) -> None:
        """After dbt created the table: make the next run keep it."""
        if not self._may_keep(model):
            return
        try:
            inserts = math.ceil(len(rows.rows) / self._rows_per_insert())
            with author_errors():
                self._seed_table(relation, model, rows).remember(inserts)
        except DbtRuntimeError as error:
            logger.warning(f"the next run will replace the table of seed {relation}: {error}")

    @available.parse(lambda *args, **kwargs: True)
    def has_column_comments(self, relation: BaseRelation, model: Mapping[str, Any]) -> bool:
        """Whether a table's columns have the descriptions of the model as their comments."""
        with author_errors():
            described = self.ivm_engine().query(f"describe table {name_of_relation(relation).sql}")
        found = {row["col_name"].lower(): row["comment"] or "" for row in described}
        return all(
            found.get(name.lower(), "") == (column.get("description") or "")
            for name, column in model["columns"].items()
        )

    def _may_keep(self, model: Mapping[str, Any]) -> bool:
        """Whether the seed is in a format with versions, and its table is made by dbt-spark's macros."""
        if str(model["config"].get("file_format") or "").lower() not in STATE_FORMATS:
            return False
        return not any(
            any(name in macro.name for name in _MACROS_OF_SEEDS) and macro.package_name not in _KNOWN_PACKAGES
            for macro in self.get_macro_resolver().macros.values()  # type: ignore[union-attr]
        )

    def _seed_table(self, relation: BaseRelation, model: Mapping[str, Any], rows: Any) -> SeedTable:
        name = name_of_relation(relation)
        file = seed_file(model, _types(self, model, rows), rows)
        owner = owner_of(self.config.project_name, str(model["unique_id"]), name)
        return SeedTable.of(self.ivm_engine(), name, file, owner)

    def _rows_per_insert(self) -> int:
        return int(str(self.execute_macro("get_batch_size")))

    def _load(self, table: TableName, types: Mapping[str, str], rows: Any) -> None:
        """Insert the rows as dbt does, over dbt's own connection, which prints the values."""
        size = self._rows_per_insert()
        mark = str(self.execute_macro("get_binding_char"))
        for start in range(0, len(rows.rows), size):
            batch = rows.rows[start : start + size]
            arguments = {"table": table.sql, "types": list(types.values()), "rows": len(batch), "mark": mark}
            sql = str(self.execute_macro("insert_seed_rows", project=MACROS, kwargs=arguments))
            self.add_query(sql, bindings=[value for row in batch for value in row], abridge_sql_log=True)


def seed_file(model: Mapping[str, Any], types: Mapping[str, str], rows: Any) -> SeedFile:
    """The file's rows, and all that dbt-spark's CREATE TABLE would say."""
    config = model["config"]
    commented = (config.get("persist_docs") or {}).get("relation")
    comment = model.get("description", "") if commented else None
    layout = [[*types.items()], [config.get(option) for option in _OPTIONS], comment]
    return SeedFile(tuple(types), _hash([layout]), _hash(tuple(row) for row in rows.rows))


def _types(adapter: Any, model: Mapping[str, Any], rows: Any) -> dict[str, str]:
    """The columns and their types in SQL."""
    declared = model["config"].get("column_types") or {}
    return {
        name: str(declared.get(name, adapter.convert_type(rows, index)))
        for index, name in enumerate(rows.column_names)
    }


def _hash(parts: Iterable[object]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(repr(part).encode())
    return digest.hexdigest()[:32]
