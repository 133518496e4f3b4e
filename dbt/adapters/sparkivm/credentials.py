"""The options of a profile of type `sparkivm`."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Optional

from dbt.adapters.spark.connections import SparkConnectionMethod, SparkCredentials
from dbt_common.exceptions import DbtRuntimeError

CONNECT = "connect"  # a method that dbt-spark does not have
_NEEDED_MODULES = {
    "session": ("pyspark",),
    "thrift": ("pyhive",),
    CONNECT: ("pyspark", "grpc", "grpc_status", "google.rpc", "pandas", "pyarrow", "zstandard"),
}
_PORT_OF_DBT_SPARK, _PORT_OF_CONNECT = 443, 15002
_STATE_FORMATS = ("delta", "iceberg")
_ANSI = "spark.sql.ansi.enabled"


@dataclass
class SparkIvmCredentials(SparkCredentials):
    """dbt-spark's credentials for the methods `session`, `thrift` and `connect`.

    spark_directory  session only: the folder for local catalog, warehouse and Spark's log; `.spark` in the
                     project, outside `target/`, because `dbt clean` would delete the tables with it
    state_format     session only: delta or iceberg, for models without file_format
    poll_interval    thrift only: longest pause, in seconds, between two checks whether a statement has ended
    query_retries    thrift only: 0, because dbt-spark would resend a statement that may still be running
    """

    method: Optional[str] = None  # type: ignore[assignment]  # dbt-spark: one of its own methods
    spark_directory: Optional[str] = None
    state_format: str = "delta"
    poll_interval: float = 1.0  # type: ignore[assignment]  # dbt-spark: whole seconds
    query_retries: int = 0

    def __post_init__(self) -> None:
        if self.method not in _NEEDED_MODULES:
            raise DbtRuntimeError(
                f"method: {self.method or '(none)'} is not supported by sparkivm; "
                "use session, thrift or connect"
            )
        if self.state_format not in _STATE_FORMATS:
            raise DbtRuntimeError(
                f"state_format: {self.state_format} is not supported; use {' or '.join(_STATE_FORMATS)}"
            )
        if not all(map(_is_installed, _NEEDED_MODULES[self.method])):
            raise DbtRuntimeError(
                f"method: {self.method} needs more packages: install dbt-sparkivm's extra {self.method}, "
                f"for example pip install '.[{self.method}]' in its repository"
            )
        if self.method == SparkConnectionMethod.SESSION:
            self.host = self.host or "session"
        if self.method == CONNECT and not self.use_ssl and self.port == _PORT_OF_DBT_SPARK:
            self.port = _PORT_OF_CONNECT
        ansi = (self.server_side_parameters or {}).get(_ANSI)
        super().__post_init__()
        if ansi is not None:  # dbt-spark switches ANSI off, regardless of the profile
            self.server_side_parameters[_ANSI] = str(ansi).lower()

    @property
    def type(self) -> str:
        return "sparkivm"

    def directory_in(self, project: Path) -> Path:
        """The absolute path of `spark_directory`."""
        return (project / (self.spark_directory or ".spark")).resolve()

    def _connection_keys(self) -> tuple[str, ...]:
        if self.method == SparkConnectionMethod.SESSION:
            return "method", "schema", "spark_directory", "state_format"
        return "method", "host", "port", "schema", "user", "auth", "use_ssl"


def _is_installed(module: str) -> bool:
    package = module.partition(".")[0]
    return find_spec(package) is not None and find_spec(module) is not None
