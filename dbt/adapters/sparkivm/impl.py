"""The adapter: dbt-spark's, with the methods of incremental views."""

from __future__ import annotations

from typing import Any

from dbt.adapters.spark.impl import SparkAdapter
from dbt.adapters.sparkivm.connections import SparkIvmConnectionManager
from dbt.adapters.sparkivm.model_config import SparkIvmConfig
from dbt.adapters.sparkivm.operations import OperationsMixin
from dbt.adapters.sparkivm.seeds import SeedMixin
from dbt.adapters.sparkivm.session_defaults import SESSION_CATALOG, STATE_CATALOG, is_icebergs

from sparkivm.refresh.request import StateLayout


class SparkIvmAdapter(OperationsMixin, SeedMixin, SparkAdapter):
    """dbt looks up the version in `dbt.adapters.<class name without Adapter, in lower case>`."""

    ConnectionManager = SparkIvmConnectionManager
    AdapterSpecificConfigs = SparkIvmConfig

    def default_layout(self) -> StateLayout:
        """According to the profile."""
        credentials: Any = self.config.credentials
        if is_icebergs((credentials.server_side_parameters or {}).get(SESSION_CATALOG, "")):
            return StateLayout(file_format="iceberg")
        if credentials.state_format == "iceberg":
            return StateLayout(file_format="iceberg", catalog=STATE_CATALOG)
        return StateLayout()
