"""Adds the materialization `incremental_view` to dbt's adapters `spark` and `databricks`.

dbt imports each top-level module named `dbt_…`, and initializes its plugins in each command of each project.
So this module imports nothing until an adapter for Spark is in use, and no error leaves it.
"""

from __future__ import annotations

import os

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

            if "spark" not in FACTORY.plugins or os.environ.get(SWITCH, "").lower() in ("off", "false", "0"):
                return
            try:
                from dbt.adapters.incremental_view import extend

                extend(FACTORY)
            except Exception as error:  # any error: a project without incremental views must still run
                from dbt.adapters.events.logging import AdapterLogger

                AdapterLogger("SparkIvm").warning(
                    f"this adapter works as if dbt-sparkivm was not installed, because of an error: {error!r}"
                )

    plugins = [IncrementalViewPlugin]
