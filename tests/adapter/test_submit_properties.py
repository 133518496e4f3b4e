"""Java gets settings from a private file, in Java's format; the user's own arguments are kept."""

import os
import shlex
import stat
from pathlib import Path

import pytest
from dbt.adapters.sparkivm.submit_properties import properties_text, submitted
from hypothesis import given
from hypothesis import strategies as st

SECRETS = {"spark.hadoop.fs.s3a.secret.key": "hunter2"}


def as_java_reads(text: str) -> dict[str, str]:
    """java.util.Properties.load, for lines without comments and continuations."""
    found = {}
    for line in text.split("\n"):
        line = line.lstrip(" \t\f")
        if not line or line[0] in "#!":
            continue
        at, escaped = 0, False
        while at < len(line) and (escaped or line[at] not in "=: \t\f"):
            escaped = not escaped and line[at] == "\\"
            at += 1
        key, rest = line[:at], line[at:].lstrip(" \t\f")
        found[unescaped(key)] = unescaped(rest[1:].lstrip(" \t\f") if rest[:1] in ("=", ":") else rest)
    return found


def unescaped(text: str) -> str:
    units, at = [], 0
    while at < len(text):
        if text[at] != "\\":
            units.append(ord(text[at]))
            at += 1
        elif text[at + 1] == "u":
            units.append(int(text[at + 2 : at + 6], 16))
            at += 6
        else:
            units.append(ord({"t": "\t", "n": "\n", "r": "\r", "f": "\f"}.get(text[at + 1], text[at + 1])))
            at += 2
    return b"".join(unit.to_bytes(2, "big") for unit in units).decode("utf-16-be", "surrogatepass")


def test_the_reader_of_the_test_reads():
    assert as_java_reads("# no\n  a\\ b : c=d\n\\u0065\\==\\n x\nf") == {"a b": "c=d", "e=": "\n x", "f": ""}


@given(st.dictionaries(st.text(min_size=1), st.text()))
def test_any_text_arrives(settings):
    text = properties_text(settings)
    assert text.isascii()
    assert as_java_reads(text) == settings


@pytest.mark.parametrize(
    ("given", "passed_on"),
    [
        (None, ["--load-spark-defaults", "pyspark-shell"]),
        ("--conf a='b c' pyspark-shell", ["--load-spark-defaults", "--conf", "a=b c", "pyspark-shell"]),
    ],
)
def test_arguments_of_the_user_stay(monkeypatch, given, passed_on):
    monkeypatch.delenv("PYSPARK_SUBMIT_ARGS", raising=False)
    if given is not None:
        monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", given)
    with submitted(SECRETS):
        option, path, *rest = shlex.split(os.environ["PYSPARK_SUBMIT_ARGS"])
        assert (option, rest) == ("--properties-file", passed_on)
        assert as_java_reads(Path(path).read_text()) == SECRETS
        assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
        assert stat.S_IMODE(os.stat(Path(path).parent).st_mode) == 0o700
        assert "hunter2" not in os.environ["PYSPARK_SUBMIT_ARGS"]
    assert not Path(path).parent.exists()
    assert os.environ.get("PYSPARK_SUBMIT_ARGS") == given


@pytest.mark.parametrize("form", ["--properties-file {}", "--properties-file={}"])
def test_a_file_of_the_user_is_read_first(monkeypatch, tmp_path, form):
    theirs = tmp_path / "my own.properties"
    theirs.write_text("a=1\nspark.hadoop.fs.s3a.secret.key=other\\")
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", form.format(shlex.quote(str(theirs))) + " pyspark-shell")
    with submitted(SECRETS):
        _, path, *rest = shlex.split(os.environ["PYSPARK_SUBMIT_ARGS"])
        assert rest == ["pyspark-shell"]
        lines = Path(path).read_text().splitlines()
        assert (lines[0], lines[-1]) == ("a=1", "spark.hadoop.fs.s3a.secret.key=hunter2")
        assert lines[-2] == ""  # ends a continued line of theirs


def test_nothing_stays_after_an_error(monkeypatch):
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", "pyspark-shell")
    paths = []

    def fails():
        paths.append(shlex.split(os.environ["PYSPARK_SUBMIT_ARGS"])[1])
        raise KeyError

    with pytest.raises(KeyError), submitted(SECRETS):
        fails()
    assert not Path(paths[0]).parent.exists()
    assert os.environ["PYSPARK_SUBMIT_ARGS"] == "pyspark-shell"
