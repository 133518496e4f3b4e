"""The integration project on a standalone cluster with two workers, its tables in an S3-compatible store.

Each view equals its SELECT after ordinary refreshes, after a worker was killed during one, and after the
driver was.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
import yaml
from pyhive import hive

from benchmarks.tpch_data import TABLES, generate
from tests.dbt.cluster import Cluster, Store
from tests.dbt.shop_project import responses_in

pytestmark = [pytest.mark.thrift, pytest.mark.slow, pytest.mark.nightly, pytest.mark.xdist_group("cluster")]

ROOT = Path(__file__).parents[2]
PROJECT = ROOT / "integration_tests" / "tpch"
SCALE = 0.01
LAYERS = ("customer_nation", "revenue_by_customer", "segment_summary")  # each over the one before
CHANGES = (
    "insert into tpch.lineitem select * from tpch.lineitem where l_orderkey % 500 = {batch}",
    "update tpch.lineitem set l_returnflag = 'R', l_discount = 0.05 where l_orderkey % 300 = {batch}",
    "delete from tpch.orders where o_orderkey % 700 = {batch}",
    "update tpch.customer set c_nationkey = (c_nationkey + 1) % 25 where c_custkey % 50 = {batch}",
    "update tpch.supplier set s_acctbal = -s_acctbal where s_suppkey % 10 = {batch}",
    "delete from tpch.part where p_partkey % 100 = {batch}",
)


class Project:
    """A copy of the integration project, whose profile names the cluster's thrift server."""

    def __init__(self, directory: Path, cluster: Cluster) -> None:
        self._directory, self._cluster = directory, cluster
        shutil.copytree(PROJECT, directory, ignore=shutil.ignore_patterns(".spark", "target", "logs"))

    def run(self, command: str = "run", models: Sequence[str] = ()) -> None:
        """A dbt command that succeeds, for some models or all."""
        process = self._started(command, models)
        output, _ = process.communicate()
        assert process.returncode == 0, output

    def modes(self) -> dict[str, str]:
        """The modes of the views in the last run."""
        return {
            name: found["mode"] for name, found in responses_in(self._directory).items() if "mode" in found
        }

    def run_disturbed(self, disturb) -> int:
        """Call `disturb` when a run of the layers has begun to refresh the second one. Returns: the exit code."""
        process = self._started("run", LAYERS)
        for line in process.stdout:
            if "START" in line and LAYERS[1] in line:
                break
        assert process.poll() is None
        disturb()
        process.communicate()
        return process.returncode

    def _started(self, command: str, models: Sequence[str]) -> subprocess.Popen[str]:
        target = {"method": "thrift", "host": "127.0.0.1", "port": self._cluster.port, "user": "dbt"}
        outputs = {"views": {"type": "spark", "schema": "analytics", "threads": 2, **target}}
        profile = {"tpch": {"target": "views", "outputs": outputs}}
        (self._directory / "profiles.yml").write_text(yaml.safe_dump(profile))
        options = ["--profiles-dir", ".", "--vars", json.dumps({"states": "delta"})]
        selection = ["--select", *models] if models else []
        return subprocess.Popen(
            [sys.executable, "-m", "dbt.cli.main", "--no-use-colors", command, *options, *selection],
            cwd=self._directory,
            env={**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'python_helpers'}"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    directory = tmp_path_factory.mktemp("cluster")
    store = Store(directory)
    cluster = Cluster(directory, store, workers=2)
    try:
        cluster.start_driver()
        yield cluster
    finally:
        cluster.stop()
        store.stop()


@pytest.fixture(scope="module")
def project(cluster, tmp_path_factory):
    parquet = generate(SCALE)
    execute(
        cluster,
        "create schema tpch",
        *(
            f"create table tpch.{table.name} using delta as select * from parquet.`file://{parquet / table.name}`"
            for table in TABLES
        ),
    )
    project = Project(tmp_path_factory.mktemp("project") / "tpch", cluster)
    project.run()
    assert set(project.modes().values()) == {"create"}
    return project


def execute(cluster: Cluster, *statements: str) -> None:
    with hive.connect("127.0.0.1", port=cluster.port, username="dbt") as connection:
        for statement in statements:
            connection.cursor().execute(statement)


def change(cluster: Cluster, batch: int) -> None:
    execute(cluster, *(statement.format(batch=batch) for statement in CHANGES))


def test_views_follow_their_sources(cluster, project):
    change(cluster, 1)
    project.run()
    modes = project.modes()
    assert {name: modes[name] for name in LAYERS} == dict.fromkeys(LAYERS, "incremental")
    project.run("test")


def test_worker_is_killed_during_a_refresh(cluster, project):
    change(cluster, 2)
    started = cluster.executors
    assert project.run_disturbed(cluster.replace_worker) == 0
    assert cluster.executors > started
    project.run("test", LAYERS)


def test_driver_is_killed_during_a_refresh(cluster, project):
    change(cluster, 3)
    assert project.run_disturbed(cluster.kill_driver) == 1
    cluster.start_driver()
    project.run(models=LAYERS)
    project.run("test", LAYERS)
