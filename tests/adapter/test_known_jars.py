"""Package jars are looked up once, unless the user names jars."""

from __future__ import annotations

import json

import pytest
from dbt.adapters.sparkivm.known_jars import remember_jars, with_known_jars
from dbt.adapters.sparkivm.session_defaults import delta_package, session_settings

from tests.adapter.start_with import what_arrives


@pytest.fixture(autouse=True)
def nothing_is_said_elsewhere(monkeypatch, tmp_path):
    monkeypatch.delenv("PYSPARK_SUBMIT_ARGS", raising=False)
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path / "conf"))


@pytest.fixture
def fetched(tmp_path):
    """Spark's list of two fetched jars, one with a blank in its name."""
    jars = [tmp_path / "io.delta_delta-spark.jar", tmp_path / "of io.delta.jar"]
    for jar in jars:
        jar.write_text("jar")
    return ",".join(f"file://{str(jar).replace(' ', '%20')}" for jar in jars)


def test_the_second_start_names_the_files(tmp_path, fetched):
    settings = session_settings({}, tmp_path)
    assert with_known_jars(settings, tmp_path) == settings
    remember_jars(settings, fetched, tmp_path)
    known = with_known_jars(settings, tmp_path)
    assert known.pop("spark.jars") == f"{tmp_path}/io.delta_delta-spark.jar,{tmp_path}/of io.delta.jar"
    assert known == {key: value for key, value in settings.items() if key != "spark.jars.packages"}


def test_jars_that_are_gone_or_others_are_fetched_again(tmp_path, fetched):
    settings = session_settings({}, tmp_path)
    remember_jars(settings, fetched, tmp_path)
    (tmp_path / "of io.delta.jar").write_text("cut short or replaced")
    assert with_known_jars(settings, tmp_path) == settings
    (tmp_path / "of io.delta.jar").unlink()
    assert with_known_jars(settings, tmp_path) == settings


@pytest.mark.parametrize(
    "text", ["", "[]", "{", json.dumps({delta_package(): 5}), json.dumps({delta_package(): {"x": None}})]
)
def test_a_record_of_another_shape(tmp_path, text):
    settings = session_settings({}, tmp_path)
    (tmp_path / "jars.json").write_text(text)
    assert with_known_jars(settings, tmp_path) == settings


@pytest.mark.parametrize("whose", ["a link", "open to others"])
def test_a_record_that_others_may_have_written(tmp_path, fetched, whose):
    """The record names code that Java will run."""
    settings = session_settings({}, tmp_path)
    remember_jars(settings, fetched, tmp_path)
    record = tmp_path / "jars.json"
    if whose == "a link":
        record.rename(tmp_path / "theirs.json")
        record.symlink_to(tmp_path / "theirs.json")
    else:
        record.chmod(0o666)
    assert with_known_jars(settings, tmp_path) == settings


def test_a_record_of_another_delta(tmp_path, fetched):
    settings = session_settings({}, tmp_path)
    remember_jars(settings, fetched, tmp_path)
    record = tmp_path / "jars.json"
    record.write_text(record.read_text().replace(delta_package(), "io.delta:delta-spark_4.0_2.13:4.0.0"))
    assert with_known_jars(settings, tmp_path) == settings


@pytest.mark.parametrize(
    "given",
    [
        {"spark.jars.packages": "org.example:x:1"},
        {"spark.jars.packages": "io.delta:delta-spark_4.1_2.13:4.3.0"},
        {"spark.jars.excludes": "org.example:y"},
    ],
)
def test_packages_of_a_profile(tmp_path, fetched, given):
    remember_jars(session_settings({}, tmp_path), fetched, tmp_path)
    settings = session_settings(given, tmp_path)
    assert with_known_jars(settings, tmp_path) == settings
    remember_jars(settings, fetched, tmp_path)
    assert "spark.jars" in with_known_jars(settings, tmp_path)


@pytest.mark.parametrize(
    "given", [{"spark.jars": "/x.jar"}, {"spark.jars.packages": "org.example:x:1-SNAPSHOT"}]
)
def test_jars_of_a_profile(tmp_path, fetched, given):
    remember_jars(session_settings({}, tmp_path), fetched, tmp_path)
    settings = session_settings(given, tmp_path)
    assert with_known_jars(settings, tmp_path) == settings
    (tmp_path / "jars.json").unlink()
    remember_jars(settings, fetched, tmp_path)
    assert not (tmp_path / "jars.json").exists()


@pytest.mark.parametrize("where", ["arguments", "defaults"])
def test_jars_that_are_named_elsewhere(tmp_path, fetched, monkeypatch, where):
    settings = session_settings({}, tmp_path)
    remember_jars(settings, fetched, tmp_path)
    if where == "arguments":
        monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", "--jars /x.jar pyspark-shell")
    else:
        (tmp_path / "conf").mkdir()
        (tmp_path / "conf" / "spark-defaults.conf").write_text("spark.jars /x.jar\n")
    assert with_known_jars(settings, tmp_path) == settings


def test_what_cannot_be_written_down_is_fetched_again(tmp_path):
    settings = session_settings({}, tmp_path)
    remember_jars(settings, "file:///not/there.jar", tmp_path)
    assert with_known_jars(settings, tmp_path) == settings


@pytest.mark.nightly
@pytest.mark.spark
@pytest.mark.slow
def test_delta_is_there_without_its_package(tmp_path):
    starts = [what_arrives(tmp_path / ".spark")["jars"] for _ in range(2)]
    assert [start["spark.jars.packages"] for start in starts] == [delta_package(), None]
    assert "delta-spark" in starts[1]["spark.jars"]
