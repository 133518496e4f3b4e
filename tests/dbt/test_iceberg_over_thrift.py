"""States in Iceberg over a thrift server: without Delta, and beside Delta's session catalog."""

import os
import signal
from typing import ClassVar

import pytest

from tests.dbt.server_project import ServerProject
from tests.dbt.thrift_server import profile, start_server
from tests.spark.iceberg_catalogs import EXTENSION, METASTORE
from tests.spark_settings import ICEBERG, SHORTCUTS

pytestmark = [
    pytest.mark.thrift,
    pytest.mark.slow,
    pytest.mark.nightly,
    pytest.mark.xdist_group("iceberg_over_thrift"),  # a server for each class
]


class IcebergProject(ServerProject):
    SETTINGS: ClassVar[dict[str, str]]
    STATES = "{schema}"

    @pytest.fixture(scope="class")
    def dbt_profile_target(self, tmp_path_factory):
        directory = tmp_path_factory.mktemp("thrift")
        port, process = start_server(directory, SHORTCUTS | METASTORE | self.SETTINGS, [ICEBERG])
        yield profile(port)
        os.kill(process, signal.SIGTERM)

    def test_create_incremental_no_op(self, project):
        super().test_create_incremental_no_op(project)
        states = self.STATES.format(schema=project.test_schema)
        for model in ("lines", "sums", "regions"):
            name = f"{states}.{model}__ivm.snapshots"
            assert project.run_sql(f"select count(*) from {name}", fetch="one")[0] == 2


class TestWithoutDelta(IcebergProject):
    USING = "using iceberg"
    SETTINGS: ClassVar = {
        "spark.sql.extensions": EXTENSION,
        "spark.sql.catalog.spark_catalog": "org.apache.iceberg.spark.SparkSessionCatalog",
        "spark.sql.catalog.spark_catalog.type": "hive",
    }

    @pytest.fixture(scope="class")
    def project_config_update(self):
        return {"models": {"+file_format": "iceberg"}}


class TestBesideDelta(IcebergProject):
    STATES = "states.{schema}"
    SETTINGS: ClassVar = {
        "spark.sql.extensions": f"io.delta.sql.DeltaSparkSessionExtension,{EXTENSION}",
        "spark.sql.catalog.states": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.states.type": "hive",
        "spark.sql.catalog.states.cache-enabled": "false",
    }

    @pytest.fixture(scope="class")
    def project_config_update(self):
        return {"models": {"+meta": {"sparkivm": {"file_format": "iceberg", "state_catalog": "states"}}}}
