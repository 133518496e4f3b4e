"""One Spark per pytest process, shared by the engine's tests, the adapter's tests and dbt's own runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests.one_at_a_time import starting_spark
from tests.seeds import DEFAULT_SEED, SEED
from tests.spark_settings import LAKE, SETTINGS, catalog_of_iceberg

pytest_plugins = ["dbt.tests.fixtures.project"]

ANSI = "spark.sql.ansi.enabled"
# The tests that use them are the same whether the run has ANSI on or off.
SETTING_ANSI = frozenset({"either_spark", "spark_with_ansi", "spark_without_ansi"})

# The same examples in each run with the default seed, and no failure because a machine is slow.
settings.register_profile(
    "sparkivm",
    derandomize=SEED == DEFAULT_SEED,
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("sparkivm")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--rewrite", action="store_true", help="write the golden files instead of comparing")


def pytest_report_header() -> list[str]:
    header = [f"drawn from SPARKIVM_SEED={SEED}"]
    if SETTINGS[ANSI] == "false":
        header.append("ANSI is off; without the tests that set it themselves")
    return header


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Run slow tests first, so that workers that share the files end at the same time.

    With `--dist loadgroup`, one worker runs the tests of a class: they share its project.
    With ANSI off, tests that set it themselves are left out: other runs have them.
    """

    def needs_java(item: pytest.Item) -> bool:
        return any(map(item.get_closest_marker, ("spark", "dbt", "thrift")))

    def fixtures(item: pytest.Item) -> Sequence[str]:
        return getattr(item, "fixturenames", ())

    if SETTINGS[ANSI] == "false":
        config.hook.pytest_deselected(items=[i for i in items if not SETTING_ANSI.isdisjoint(fixtures(i))])
        items[:] = [item for item in items if SETTING_ANSI.isdisjoint(fixtures(item))]
    for item in items:
        if "root_session" in fixtures(item) and not needs_java(item):
            raise pytest.UsageError(f"{item.nodeid} uses Spark, but is not marked `spark`, `dbt` or `thrift`")
        if (of_class := item.getparent(pytest.Class)) and not item.get_closest_marker("xdist_group"):
            item.add_marker(pytest.mark.xdist_group(of_class.nodeid))
    items.sort(key=lambda item: not needs_java(item))


@pytest.fixture(scope="session")
def root_session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The first session of a Spark with Delta, time zone UTC, an in-memory catalog and an empty warehouse.

    dbt-spark runs hooks in this session and writes a profile's settings into it.
    """
    from dbt.adapters.sparkivm.session import start
    from dbt.adapters.sparkivm.session_defaults import session_settings
    from pyspark.sql import SparkSession

    directory = tmp_path_factory.mktemp("spark")
    with starting_spark():
        start(session_settings(SETTINGS | catalog_of_iceberg(LAKE, directory), directory), directory)
    session = SparkSession.builder.getOrCreate()
    yield session
    session.stop()


@pytest.fixture(scope="session")
def spark(root_session: Any) -> Any:
    """A separate session for the tests."""
    return root_session.newSession()


@pytest.fixture(scope="module", params=["true", "false"], ids=["ansi", "not_ansi"])
def either_spark(spark: Any, request: pytest.FixtureRequest) -> Any:
    """A session with ANSI on, as most servers have it, then one with ANSI off, as dbt-spark has it."""
    session = spark.newSession()
    session.conf.set(ANSI, request.param)
    return session


@pytest.fixture(scope="module")
def spark_with_ansi(spark: Any) -> Any:
    """A session in which overflow is an error, also where `spark` has ANSI off."""
    session = spark.newSession()
    session.conf.set(ANSI, "true")
    return session


@pytest.fixture(scope="module")
def spark_without_ansi(spark: Any) -> Any:
    """A session in which overflow gives NULL instead of an error."""
    session = spark.newSession()
    session.conf.set(ANSI, "false")
    return session


@pytest.fixture(scope="class")
def dbt_profile_target(spark: Any) -> dict[str, Any]:
    """A profile that connects to the same Spark, with one session per connection."""
    return {"type": "sparkivm", "method": "session", "threads": 4}
