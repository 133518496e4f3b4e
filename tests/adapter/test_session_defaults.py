"""Settings of the Spark that dbt starts."""

from pathlib import Path

import pytest
from dbt.adapters.sparkivm import session_defaults
from dbt.adapters.sparkivm.session_defaults import delta_package, session_settings
from dbt_common.exceptions import DbtRuntimeError

HOME = Path("/project/.spark")
OF_ICEBERG = {
    "spark.sql.catalog.spark_catalog": "org.apache.iceberg.spark.SparkSessionCatalog",
    "spark.jars.packages": "org.apache.iceberg:x:1",
}
LOCKS = "spark.hadoop.iceberg.engine.hive.lock-enabled"


def test_everything_stays_in_its_directory():
    settings = session_settings({}, HOME)
    assert settings["spark.sql.warehouse.dir"] == "/project/.spark/warehouse"
    assert "databaseName=/project/.spark/catalog;" in settings["spark.hadoop.javax.jdo.option.ConnectionURL"]
    assert "/project/.spark/derby.log" in settings["spark.driver.extraJavaOptions"]


def test_the_profile_wins():
    given = {
        "spark.master": "yarn",
        "spark.sql.session.timeZone": "Europe/Oslo",
        "spark.sql.shuffle.partitions": "7",
    }
    settings = session_settings(given, HOME)
    assert {key: settings[key] for key in given} == given
    assert "spark.driver.bindAddress" not in settings


def test_nothing_of_delta_beside_icebergs_session_catalog():
    settings = session_settings(OF_ICEBERG, HOME)
    assert settings["spark.jars.packages"] == "org.apache.iceberg:x:1"
    assert "spark.sql.extensions" not in settings
    assert settings["spark.sql.catalog.spark_catalog.cache-enabled"] == "false"
    assert settings[LOCKS] == "false"


@pytest.mark.parametrize(
    "setting",
    ["spark.hadoop.hive.metastore.uris", "spark.hive.metastore.uris", "spark.sql.catalog.spark_catalog.uri"],
)
def test_a_metastore_that_others_use_keeps_icebergs_locks(setting):
    settings = session_settings({**OF_ICEBERG, setting: "thrift://metastore:9083"}, HOME)
    assert LOCKS not in settings
    assert settings["spark.sql.catalog.spark_catalog.cache-enabled"] == "false"


def test_a_metastore_that_a_file_names_keeps_icebergs_locks(tmp_path, monkeypatch):
    monkeypatch.setenv("HIVE_CONF_DIR", str(tmp_path))
    assert session_settings(OF_ICEBERG, HOME)[LOCKS] == "false"
    (tmp_path / "hive-site.xml").write_text("<configuration/>", encoding="utf-8")
    assert LOCKS not in session_settings(OF_ICEBERG, HOME)


def test_the_profile_decides_about_locks():
    settings = session_settings({**OF_ICEBERG, LOCKS: "true"}, HOME)
    assert settings[LOCKS] == "true"


def test_lists_are_joined():
    given = {
        "spark.jars.packages": "org.example:x:1",
        "spark.sql.extensions": "org.example.X",
        "spark.driver.extraJavaOptions": "-Duser.timezone=Asia/Tokyo",
    }
    settings = session_settings(given, HOME)
    assert settings["spark.jars.packages"].endswith(":4.4.0,org.example:x:1")
    assert settings["spark.sql.extensions"] == "io.delta.sql.DeltaSparkSessionExtension,org.example.X"
    assert settings["spark.driver.extraJavaOptions"].endswith("-Duser.timezone=Asia/Tokyo")


def test_a_delta_that_is_there_is_kept():
    assert "spark.jars.packages" not in session_settings(
        {"spark.jars": "/opt/delta-spark_4.1_2.13-4.4.0.jar"}, HOME
    )


@pytest.mark.parametrize(("pyspark", "scala"), [("4.1.4", "4.1_2.13"), ("4.2.0", "4.2_2.13")])
def test_delta_fits_spark(monkeypatch, pyspark, scala):
    monkeypatch.setattr(session_defaults, "version", lambda name: pyspark)
    assert delta_package() == f"io.delta:delta-spark_{scala}:4.4.0"


def test_an_unknown_spark_is_refused(monkeypatch):
    monkeypatch.setattr(session_defaults, "version", lambda name: "3.5.1")
    with pytest.raises(DbtRuntimeError, match=r"pyspark 3\.5\.1 is installed"):
        delta_package()
