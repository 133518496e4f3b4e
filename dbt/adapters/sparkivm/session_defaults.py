"""Settings of a Spark that dbt starts; the profile's `server_side_parameters` override them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Literal

from dbt_common.exceptions import DbtRuntimeError

from sparkivm.refresh.session.planning_settings import OF_EACH_STATEMENT

StateFormat = Literal["delta", "iceberg"]
DELTA_VERSION, _ICEBERG_VERSION = "4.4.0", "1.11.0"
_SPARK_VERSIONS = ("4.1", "4.2")  # each needs its own build of Delta
STATE_CATALOG = "sparkivm"  # of states in Iceberg, beside Delta's session catalog
# By default. With Delta's default of 50 a small commit takes four times as long.
DEFAULTS_OF_DELTA = {"spark.databricks.delta.snapshotPartitions": "2"}
CATALOG = "org.apache.spark.sql.delta.catalog.DeltaCatalog"
SESSION_CATALOG = "spark.sql.catalog.spark_catalog"
EXTENSION = "io.delta.sql.DeltaSparkSessionExtension"
# By default, with Iceberg's session catalog and a metastore in Spark's own process, which lacks a library for
# Iceberg's locks and compares columns by position. A metastore that others use keeps its locks: without them,
# commits could be lost.
_OF_EMBEDDED_METASTORE = {
    "spark.hadoop.iceberg.engine.hive.lock-enabled": "false",
    "spark.hadoop.hive.metastore.disallow.incompatible.col.type.changes": "false",
}
_METASTORES = (
    "spark.hadoop.hive.metastore.uris",
    "spark.hive.metastore.uris",
    f"{SESSION_CATALOG}.uri",
)


def session_settings(
    given: Mapping[str, str], directory: Path, states: StateFormat = "delta"
) -> dict[str, str]:
    """All settings with which the JVM is started.

    states  the format of states in a Spark whose session catalog is Delta's

    Lists are joined with the profile's instead of replaced: Delta stays when a profile adds a package or an
    extension, and its Java options follow ours, so that the last one wins. A profile with Iceberg's session
    catalog has no Delta tables: then nothing of Delta is loaded.
    """
    master = given.get("spark.master", "local[*]")
    catalog = f"jdbc:derby:;databaseName={directory / 'catalog'};create=true"
    settings = {
        "spark.master": master,
        "spark.app.name": "dbt",
        "spark.sql.catalogImplementation": "hive",
        SESSION_CATALOG: CATALOG,
        "spark.sql.warehouse.dir": str(directory / "warehouse"),
        "spark.hadoop.javax.jdo.option.ConnectionURL": catalog,
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": str(os.cpu_count() or 2),
        **DEFAULTS_OF_DELTA,
        **OF_EACH_STATEMENT,
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    if master.startswith("local"):
        settings |= {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
    settings |= given

    if is_icebergs(settings[SESSION_CATALOG]):
        settings = {**_without_cache(SESSION_CATALOG), **settings}
        if not _has_metastore(settings):
            settings = {**_OF_EMBEDDED_METASTORE, **settings}
    else:
        settings |= _with_delta(given)
        if states == "iceberg":
            settings |= _with_state_catalog(settings, directory)
    options = f'-Duser.timezone=UTC "-Dderby.stream.error.file={directory / "derby.log"}"'
    settings["spark.driver.extraJavaOptions"] = _joined(
        options, given.get("spark.driver.extraJavaOptions"), " "
    )
    return settings


def _without_cache(catalog: str) -> dict[str, str]:
    """Otherwise a session that reads an Iceberg table again and again does not see what others write."""
    return {f"{catalog}.cache-enabled": "false"}


def _has_metastore(settings: Mapping[str, str]) -> bool:
    """Whether a metastore is named that other programs may use too."""
    folders = filter(None, map(os.environ.get, ("SPARK_CONF_DIR", "HADOOP_CONF_DIR", "HIVE_CONF_DIR")))
    return any(settings.get(key) for key in _METASTORES) or any(
        (Path(folder) / "hive-site.xml").exists() for folder in folders
    )


def is_icebergs(catalog: str) -> bool:
    """Whether the class of a session catalog is Iceberg's."""
    return catalog.startswith("org.apache.iceberg.")


def _with_delta(given: Mapping[str, str]) -> dict[str, str]:
    """The profile's packages and extensions, plus Delta's if they are missing."""
    settings = {}
    jars = ",".join(
        given.get(key, "") for key in ("spark.jars", "spark.jars.packages", "spark.driver.extraClassPath")
    )
    if "delta-spark" not in jars:
        settings["spark.jars.packages"] = _joined(delta_package(), given.get("spark.jars.packages"), ",")
    if EXTENSION not in given.get("spark.sql.extensions", ""):
        settings["spark.sql.extensions"] = _joined(EXTENSION, given.get("spark.sql.extensions"), ",")
    return settings


def _with_state_catalog(settings: Mapping[str, str], directory: Path) -> dict[str, str]:
    """A catalog for Iceberg tables in a folder, and the Iceberg package."""
    catalog = f"spark.sql.catalog.{STATE_CATALOG}"
    package = f"org.apache.iceberg:iceberg-spark-runtime-{_spark_minor()}_2.13:{_ICEBERG_VERSION}"
    return {
        "spark.jars.packages": _joined(settings.get("spark.jars.packages", ""), package, ","),
        catalog: "org.apache.iceberg.spark.SparkCatalog",
        f"{catalog}.type": "hadoop",
        f"{catalog}.warehouse": str(directory / "states"),
        **_without_cache(catalog),
    }


def delta_package() -> str:
    """The Maven coordinates of the Delta for the installed pyspark."""
    return f"io.delta:delta-spark_{_spark_minor()}_2.13:{DELTA_VERSION}"


def _spark_minor() -> str:
    installed = version("pyspark")
    minor = ".".join(installed.split(".")[:2])
    if minor not in _SPARK_VERSIONS:
        raise DbtRuntimeError(
            f"sparkivm knows the Delta packages for pyspark {' and '.join(_SPARK_VERSIONS)}, "
            f"but pyspark {installed} is installed: install one of these, "
            "or name the package in server_side_parameters: spark.jars.packages."
        )
    return minor


def _joined(ours: str, theirs: str | None, separator: str) -> str:
    return separator.join(part for part in (ours, theirs) if part)
