"""`.spark` is created private; an existing directory is left unchanged."""

import os
import stat

import pytest
from dbt.adapters.sparkivm.private_directory import make_private, private_file


def mode(path):
    return stat.S_IMODE(os.stat(path).st_mode)


@pytest.fixture(autouse=True)
def usual_umask():
    before = os.umask(0o022)
    yield
    os.umask(before)


def test_a_new_directory_is_private(tmp_path):
    made = tmp_path / "project" / ".spark"
    make_private(made)
    assert (mode(made), mode(made.parent)) == (0o700, 0o755)
    assert (made / ".gitignore").read_text() == "*\n"
    make_private(made)


def test_a_directory_that_is_there_stays_as_it_is(tmp_path):
    theirs = tmp_path / "shared"
    theirs.mkdir()
    theirs.chmod(0o777)
    (theirs / ".gitignore").write_text("build\n")
    make_private(theirs)
    assert mode(theirs) == 0o777
    assert (theirs / ".gitignore").read_text() == "build\n"


def test_the_log_is_private_and_begins_again(tmp_path):
    path = tmp_path / "spark.log"
    path.write_text("a former run")
    path.chmod(0o644)
    with private_file(path) as log:
        log.write(b"x")
    assert (path.read_text(), mode(path)) == ("x", 0o600)
    path.unlink()
    with private_file(path):
        assert mode(path) == 0o600


def test_a_log_that_is_a_link_is_refused(tmp_path):
    theirs = tmp_path / "theirs"
    theirs.write_text("theirs")
    (tmp_path / "spark.log").symlink_to(theirs)
    with pytest.raises(OSError, match=r"spark\.log"), private_file(tmp_path / "spark.log"):
        pass
    assert theirs.read_text() == "theirs"


def test_a_log_of_somebody_else_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "spark.log"
    path.write_text("theirs")
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    with pytest.raises(PermissionError, match="is not a regular file of this user"), private_file(path):
        pass
    assert path.read_text() == "theirs"
