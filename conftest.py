"""One Spark per pytest process: tests of the engine, of the adapter and dbt's own runs all use it."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from typing import Any

import pytest

pytest_plugins = ["dbt.tests.fixtures.project"]

_SETTINGS = {
    "spark.master": "local[2]",
    "spark.sql.catalogImplementation": "in-memory",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.sources.parallelPartitionDiscovery.parallelism": "2",  # tasks of a VACUUM, 10,000 by default
    "spark.sql.ansi.enabled": "false",
    "spark.driver.memory": "2g",
    # Thousands of small plans on two cores: a concurrent collector costs more than it saves.
    "spark.driver.extraJavaOptions": "-XX:+UseSerialGC",
}


# In the environment, so that processes that share the work draw the same tests.
_DRAW = os.environ.setdefault("SPARKIVM_DRAW", str(random.SystemRandom().randrange(10**6)))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--rewrite", action="store_true", help="write the golden files instead of comparing")


def pytest_report_header() -> str:
    return f"drawn tests: SPARKIVM_DRAW={_DRAW} (a seed, or all)"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Of a test marked `drawn(n)` only n of its parameters are tried in each run."""
    if _DRAW == "all":
        return
    groups: dict[str, list[pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("drawn"):
            groups.setdefault(item.nodeid.partition("[")[0], []).append(item)
    left_out: set[pytest.Item] = set()
    for name, group in groups.items():
        marker = group[0].get_closest_marker("drawn")
        assert marker is not None
        kept = random.Random(f"{_DRAW} {name}").sample(group, min(len(group), marker.args[0]))
        left_out |= {item for item in group if item not in kept}
    config.hook.pytest_deselected(items=list(left_out))
    items[:] = [item for item in items if item not in left_out]


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The root session: Delta, a catalog in memory, an empty warehouse, UTC."""
    from dbt.adapters.sparkivm.session import start
    from dbt.adapters.sparkivm.session_defaults import session_settings
    from pyspark.sql import SparkSession

    directory = tmp_path_factory.mktemp("spark")
    start(session_settings(_SETTINGS, directory), directory)
    session = SparkSession.builder.getOrCreate()
    yield session
    session.stop()


@pytest.fixture(scope="class")
def dbt_profile_target(spark: Any) -> dict[str, Any]:
    """dbt connects to the same Spark, with a session of its own per connection."""
    return {"type": "sparkivm", "method": "session", "threads": 4}
