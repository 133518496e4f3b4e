"""The adapter: dbt-spark's, with the methods of incremental views."""

from __future__ import annotations

from dbt.adapters.spark.impl import SparkAdapter
from dbt.adapters.sparkivm.connections import SparkIvmConnectionManager
from dbt.adapters.sparkivm.incremental_view import IncrementalViewMixin
from dbt.adapters.sparkivm.model_config import SparkIvmConfig


class SparkIvmAdapter(IncrementalViewMixin, SparkAdapter):
    """dbt looks the version up in `dbt.adapters.<this class's name before Adapter, in lower case>`."""

    ConnectionManager = SparkIvmConnectionManager
    AdapterSpecificConfigs = SparkIvmConfig
