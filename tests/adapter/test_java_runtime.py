"""Java is checked before Spark would fail without it."""

import pytest
from dbt.adapters.sparkivm.environment import check_java
from dbt_common.exceptions import DbtRuntimeError


def java(directory, version):
    (directory / "bin").mkdir()
    program = directory / "bin" / "java"
    program.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\"' >&2\n")
    program.chmod(0o755)


@pytest.mark.parametrize("version", ["17.0.15", "21.0.2"])
def test_accepted(tmp_path, monkeypatch, version):
    java(tmp_path, version)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    check_java()


@pytest.mark.parametrize(("version", "major"), [("11.0.2", "11"), ("1.8.0_292", "8")])
def test_wrong_version(tmp_path, monkeypatch, version, major):
    java(tmp_path, version)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(DbtRuntimeError, match=f"is Java {major}: install Java 17 or 21"):
        check_java()


def test_missing(tmp_path, monkeypatch):
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(DbtRuntimeError, match="java on PATH does not exist"):
        check_java()
