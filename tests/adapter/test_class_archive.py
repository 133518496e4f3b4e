"""Java starts with an archive of its classes where that is safe, and writes an archive if there is none."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from dbt.adapters.sparkivm.class_archive import from_archive, is_complete

from tests.adapter.start_with import SMALL, what_arrives

OPTIONS = "spark.driver.extraJavaOptions"
COMPLETE = (0xF00BABA8).to_bytes(4, "little") + b"classes"
FOLDERS = ("SPARK_CONF_DIR", "HADOOP_CONF_DIR", "YARN_CONF_DIR")


@pytest.fixture(autouse=True)
def home(monkeypatch, tmp_path) -> Path:
    """A Spark home without folders on its class path, and an empty user cache."""
    (tmp_path / "spark" / "jars").mkdir(parents=True)
    (tmp_path / "spark" / "jars" / "spark.jar").write_text("jar")
    monkeypatch.setenv("SPARK_HOME", str(tmp_path / "spark"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name in (*FOLDERS, "SPARK_DIST_CLASSPATH"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.fixture
def settings(tmp_path) -> dict[str, str]:
    (tmp_path / "delta.jar").write_text("jar")
    return {"spark.master": "local[*]", "spark.jars": str(tmp_path / "delta.jar"), OPTIONS: "-Dx=y"}


def cache(home: Path) -> Path:
    return home / "cache" / "dbt-sparkivm"


def options(settings: dict[str, str]) -> list[str]:
    """The Java options about archives."""
    with from_archive(settings) as started:
        return started[OPTIONS].split()[1:]


def part_of(settings: dict[str, str]) -> Path:
    """The file that Java is told to write."""
    (option,) = options(settings)
    return Path(option.strip('"').removeprefix("-XX:ArchiveClassesAtExit="))


def test_the_first_start_writes_and_the_next_one_uses_it(settings, home):
    part = part_of(settings)
    assert part.parent == cache(home)
    part.write_bytes(COMPLETE)
    archive = part.with_name(f"{part.name.split('.')[0]}.jsa")
    assert options(settings) == [f'"-XX:SharedArchiveFile={archive}"']
    assert not part.exists()
    assert options(settings) == [f'"-XX:SharedArchiveFile={archive}"']


def test_jars_are_on_the_class_path_while_java_starts(settings, monkeypatch):
    monkeypatch.setenv("SPARK_DIST_CLASSPATH", "/mine.jar")
    with from_archive(settings) as started:
        assert os.environ["SPARK_DIST_CLASSPATH"] == f"/mine.jar:{settings['spark.jars']}"
        assert "spark.jars" not in started
    assert os.environ["SPARK_DIST_CLASSPATH"] == "/mine.jar"
    monkeypatch.delenv("SPARK_DIST_CLASSPATH")
    with from_archive(settings):
        pass
    assert "SPARK_DIST_CLASSPATH" not in os.environ


def test_one_that_is_still_written_is_not_used(settings):
    part = part_of(settings)
    part.write_bytes(bytes(100))
    assert "ArchiveClassesAtExit" in options(settings)[0]
    assert part.exists()
    os.utime(part, (0, time.time() - 7200))
    part_of(settings)
    assert not part.exists(), "Java was killed while it wrote"


@pytest.mark.parametrize("changed", ["spark/jars/spark.jar", "delta.jar"])
def test_another_class_path_has_another_archive(settings, home, changed):
    part_of(settings).write_bytes(COMPLETE)
    options(settings)
    (home / changed).write_text("another jar")
    assert "ArchiveClassesAtExit" in options(settings)[0]


def test_two_archives_are_kept(settings, home):
    for number in range(4):
        (home / "delta.jar").write_text(number * "x")
        part_of(settings).write_bytes(COMPLETE)
        options(settings)
    assert len(list(cache(home).iterdir())) == 2


@pytest.mark.parametrize(
    "other",
    [
        {"spark.master": "yarn"},
        {OPTIONS: "-Xshare:off"},
        {OPTIONS: "-XX:SharedArchiveFile=/mine.jsa"},
        {"spark.jars": "/a:b.jar"},
        {"spark.jars": ""},
    ],
    ids=str,
)
def test_settings_that_are_left_alone(settings, other):
    with from_archive(settings | other) as started:
        assert started == settings | other
        assert "SPARK_DIST_CLASSPATH" not in os.environ


@pytest.mark.parametrize("name", FOLDERS)
def test_folders_on_the_class_path(settings, monkeypatch, name):
    monkeypatch.setenv(name, "/etc/spark")
    with from_archive(settings) as started:
        assert started == settings


def test_spark_with_a_folder_of_its_own(settings, home):
    (home / "spark" / "conf").mkdir()
    with from_archive(settings) as started:
        assert started == settings


@pytest.mark.parametrize("whose", ["open to others", "a link", "no folder"])
def test_a_cache_that_others_may_write_to(settings, home, whose):
    """The archive contains code that Java will run."""
    if whose == "no folder":
        (home / "cache").write_text("")
    elif whose == "a link":
        (home / "elsewhere").mkdir()
        (home / "cache").mkdir()
        cache(home).symlink_to(home / "elsewhere")
    else:
        cache(home).mkdir(parents=True)
        cache(home).chmod(0o777)
    with from_archive(settings) as started:
        assert started == settings


@pytest.mark.nightly
@pytest.mark.spark
@pytest.mark.slow
def test_java_takes_classes_from_it(home, monkeypatch):
    """The first start fetches Delta, the second writes the archive, the third uses it."""
    monkeypatch.delenv("SPARK_HOME")
    log = home / "classes.log"
    monkeypatch.setenv("JDK_JAVA_OPTIONS", f"-Xlog:class+load:file={log}")
    with_derby = {key: value for key, value in SMALL.items() if key != "spark.sql.catalogImplementation"}
    what_arrives(home / ".spark", with_derby)
    what_arrives(home / ".spark", with_derby)
    assert "Shutting down instance" in (home / ".spark" / "derby.log").read_text(), "its lock is released"
    deadline = time.monotonic() + 120
    while not any(is_complete(part) for part in cache(home).glob("*.part")):
        assert time.monotonic() < deadline, "Java has written no archive"
        time.sleep(1)
    what_arrives(home / ".spark", with_derby)
    assert "org.apache.spark.sql.delta.DeltaLog source: shared objects file (top)" in log.read_text()
