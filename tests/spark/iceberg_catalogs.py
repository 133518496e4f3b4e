"""Settings of Iceberg catalogs of each type, beside Delta's session catalog."""

from __future__ import annotations

from pathlib import Path

from tests.spark_settings import ICEBERG, catalog_of_iceberg

SQLITE = "org.xerial:sqlite-jdbc:3.50.3.0"  # the database of catalogs of type jdbc
PACKAGES = f"{ICEBERG},{SQLITE}"
EXTENSION = "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions"
# The metastore makes its own tables in Derby. Spark lacks the library that Iceberg's locks need.
METASTORE = {
    "spark.hadoop.datanucleus.schema.autoCreateAll": "true",
    "spark.hadoop.hive.metastore.schema.verification": "false",
    "spark.hadoop.iceberg.engine.hive.lock-enabled": "false",
}


def jdbc_catalog(name: str, directory: Path, password: str = "") -> dict[str, str]:
    """A catalog in a file, in which a commit waits for another one."""
    return _catalog(
        name,
        directory,
        {
            "type": "jdbc",
            "uri": f"jdbc:sqlite:{directory}/{name}.db?busy_timeout=60000",
            "jdbc.schema-version": "V1",  # otherwise it is an error to look for a table that is not there
            **({"jdbc.password": password} if password else {}),
        },
    )


def hive_catalog(name: str, directory: Path) -> dict[str, str]:
    return _catalog(name, directory, {"type": "hive"})


def rest_catalog(name: str, directory: Path, uri: str, token: str) -> dict[str, str]:
    return _catalog(name, directory, {"type": "rest", "uri": uri, "token": token})


def _catalog(name: str, directory: Path, options: dict[str, str]) -> dict[str, str]:
    settings = catalog_of_iceberg(name, directory)
    return settings | {f"spark.sql.catalog.{name}.{key}": value for key, value in options.items()}
