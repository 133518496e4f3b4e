"""Settings of the Spark that tests start: thousands of small statements on two cores."""

from __future__ import annotations

import os

# Sources may be Iceberg tables, in a catalog of their own beside Delta's.
ICEBERG = "org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.11.0"
CATALOG_OF_ICEBERG = {
    "spark.sql.catalog.ice": "org.apache.iceberg.spark.SparkCatalog",
    "spark.sql.catalog.ice.type": "hadoop",
}

# Without loss for small plans, and with a third fewer jobs; `make nightly` has what users have.
SHORTCUTS = {
    # A task more per exchange is a sixth of the time.
    "spark.sql.shuffle.partitions": os.environ.get("SPARKIVM_PARTITIONS", "1"),
    # Each exchange is a job of its own with it.
    "spark.sql.adaptive.enabled": os.environ.get("SPARKIVM_ADAPTIVE", "false"),
    # A fifth of the time went into writing Java for a projection, per partition of each snapshot of Delta's.
    # Projections are interpreted instead; stages are still compiled, as users have them.
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
    # Thousands of small plans: a second compiler and a concurrent collector cost more than they save.
    # The first compiler alone has little room for code by default.
    "spark.driver.extraJavaOptions": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1 "
    "-XX:ReservedCodeCacheSize=256m",
}
