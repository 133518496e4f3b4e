"""Tables and views that a module makes once. Each test gets them in that state, at the cost of copying files."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from tests.spark.lab import Lab


class SavedTables:
    """Everything in a laboratory's schema, with every version, to be copied into laboratories of the same name."""

    def __init__(self, lab: Lab, directory: Path) -> None:
        """directory: used by this object only."""
        self._schema = lab.schema
        self._tables: dict[str, tuple[Any, Path | None]] = {}
        catalog = _catalog(lab)
        for name in catalog.listTables(lab.schema).mkString(",").split(","):
            table = catalog.getTable(lab.schema, name)
            files = None
            if table.tableType().name() != "VIEW":
                files = Path(shutil.copytree(table.location().getPath(), directory / name))
            self._tables[name] = table, files

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._tables)

    def put_into(self, lab: Lab, *names: str) -> None:
        """Copy the named tables into a laboratory, or all of them if none is named."""
        assert lab.schema == self._schema, "views and frontiers name their tables with the schema"
        catalog = _catalog(lab)
        for name in names or self._tables:
            table, files = self._tables[name]
            if files is not None:
                shutil.copytree(files, table.location().getPath())
            catalog.createTable(table, False)
        lab.session._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()


def _catalog(lab: Lab) -> Any:
    return lab.session._jsparkSession.sharedState().externalCatalog()
