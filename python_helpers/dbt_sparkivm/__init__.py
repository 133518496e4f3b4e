"""Adds the materialization `incremental_view` to dbt's adapters `spark` and `databricks`.

dbt imports each top-level module named `dbt_…`, and initializes its plugins in each command of each project.
So this module imports nothing until an adapter for Spark is in use, and no error leaves it.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dbt.adapters.contracts.connection import Credentials
    from dbt.adapters.factory import AdapterContainer

SWITCH = "DBT_SPARKIVM"  # an environment variable: `off` leaves dbt unchanged

plugins: list[type] = []

try:
    from dbt.plugins.manager import dbtPlugin
except ImportError:  # a dbt with another plugin interface; the adapter `sparkivm` needs none
    pass
else:

    class IncrementalViewPlugin(dbtPlugin):
        """dbt creates it after loading the profile's adapter and before reading the macros."""

        def initialize(self) -> None:
            from dbt.adapters.factory import FACTORY

            if "spark" in FACTORY.plugins and _is_switched_on():
                _extend(FACTORY)
                _extend_after_loading(FACTORY)

    plugins = [IncrementalViewPlugin]


def _is_switched_on() -> bool:
    return os.environ.get(SWITCH, "").lower() not in ("off", "false", "0")


def _extend(factory: AdapterContainer) -> None:
    try:
        from dbt.adapters.incremental_view import extend

        extend(factory)
    except Exception as error:  # any error: a project without incremental views must still run
        from dbt.adapters.events.logging import AdapterLogger

        AdapterLogger("SparkIvm").warning(
            f"this adapter works as if dbt-sparkivm was not installed, because of an error: {error!r}"
        )


def _extend_after_loading(factory: AdapterContainer) -> None:
    """`dbt retry` loads the profile's adapter a second time, and creates no plugins after that."""
    if "load_plugin" in vars(factory):
        return
    load = factory.load_plugin

    def load_plugin(name: str) -> type[Credentials]:
        credentials = load(name)
        if name in ("spark", "databricks") and _is_switched_on():
            _extend(factory)
        return credentials

    factory.load_plugin = load_plugin  # type: ignore[method-assign]
