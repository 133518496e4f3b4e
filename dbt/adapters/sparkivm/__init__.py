"""The dbt adapter `sparkivm`: dbt-spark plus the materialization `incremental_view`."""

from dbt.adapters.base.plugin import AdapterPlugin
from dbt.adapters.sparkivm.connections import SparkIvmConnectionManager
from dbt.adapters.sparkivm.credentials import SparkIvmCredentials
from dbt.adapters.sparkivm.impl import SparkIvmAdapter
from dbt.include import sparkivm_profile

Plugin = AdapterPlugin(
    adapter=SparkIvmAdapter,  # type: ignore[arg-type]  # AdapterProtocol is wider than what BaseAdapter declares
    credentials=SparkIvmCredentials,
    include_path=sparkivm_profile.PACKAGE_PATH,
    dependencies=["incremental_view", "spark"],
)

__all__ = ["Plugin", "SparkIvmAdapter", "SparkIvmConnectionManager", "SparkIvmCredentials"]
