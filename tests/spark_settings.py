"""Settings of the Spark that tests start: tuned for thousands of small statements on two cores."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

# Sources may be Iceberg tables, in a separate catalog beside Delta's.
ICEBERG_VERSION = "1.11.0"
ICEBERG = f"org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:{ICEBERG_VERSION}"
CATALOG_OF_ICEBERG = {
    "spark.sql.catalog.ice": "org.apache.iceberg.spark.SparkCatalog",
    "spark.sql.catalog.ice.type": "hadoop",
}

# The formats of the tests' sources and states; `make nightly` repeats some tests with the other ones.
Format = Literal["delta", "iceberg"]
SOURCES: Format = "iceberg" if os.environ.get("SPARKIVM_SOURCES") == "iceberg" else "delta"
STATES: Format = "iceberg" if os.environ.get("SPARKIVM_STATES") == "iceberg" else "delta"
LAKE = "lake"  # the catalog of these Iceberg tables


def catalog_of_iceberg(name: str, directory: Path) -> dict[str, str]:
    """Settings of a catalog in a directory, in which each session sees others' commits at once."""
    catalog = f"spark.sql.catalog.{name}"
    return {
        catalog: "org.apache.iceberg.spark.SparkCatalog",
        f"{catalog}.type": "hadoop",
        f"{catalog}.warehouse": str(directory / name),
        f"{catalog}.cache-enabled": "false",
    }


# Shortcuts that lose nothing for small plans and save a third of the jobs; `make nightly` runs with what users have.
SHORTCUTS = {
    # One more task per exchange costs a sixth of the time.
    "spark.sql.shuffle.partitions": os.environ.get("SPARKIVM_PARTITIONS", "1"),
    # With it, each exchange is a job of its own.
    "spark.sql.adaptive.enabled": os.environ.get("SPARKIVM_ADAPTIVE", "false"),
    # Generating Java for a projection, per partition of each Delta snapshot, took a fifth of the time.
    # So projections are interpreted; stages are still compiled, as for users.
    "spark.databricks.delta.snapshotPartitions": "1",
    "spark.sql.codegen.factoryMode": os.environ.get("SPARKIVM_CODEGEN", "NO_CODEGEN"),
}

SETTINGS = {
    **SHORTCUTS,
    "spark.jars.packages": ICEBERG,
    "spark.master": "local[2]",
    "spark.sql.catalogImplementation": "in-memory",
    "spark.sql.sources.parallelPartitionDiscovery.parallelism": "2",  # tasks of a VACUUM, 10,000 by default
    "spark.sql.ansi.enabled": os.environ.get("SPARKIVM_ANSI", "true"),  # Spark's default
    "spark.driver.memory": "2g",
    # For thousands of small plans, a concurrent collector costs more than it saves. The second compiler pays
    # for itself after a minute: a refresh that is disturbed and healed takes 3.7 s with it, 6.3 s without.
    "spark.driver.extraJavaOptions": "-XX:+UseSerialGC",
}
