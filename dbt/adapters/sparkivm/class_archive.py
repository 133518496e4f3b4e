"""A class data archive: Java maps Spark's and Delta's classes instead of reading and checking each.

Java writes it when it ends, some seconds after dbt; later starts use it. It is valid for one Java and one
class path, whose digest is its name. Java ignores an archive that does not fit or is truncated.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from dbt.adapters.sparkivm.environment import java_command, spark_home, variable
from dbt.adapters.sparkivm.log import logger

_JARS, _OPTIONS = "spark.jars", "spark.driver.extraJavaOptions"
_CLASS_PATH = "SPARK_DIST_CLASSPATH"  # Spark's launcher appends it to its own jars
_HEADER = (0xF00BABA8).to_bytes(4, "little")  # Java writes it last
_FOLDERS = ("SPARK_CONF_DIR", "HADOOP_CONF_DIR", "YARN_CONF_DIR")  # on the class path if they are set
_OF_ARCHIVES = ("-Xshare", "SharedArchiveFile", "ArchiveClassesAtExit")
_NEEDED_BYTES = 1 << 30  # free disk space; an archive takes a quarter of it
_MOST_ARCHIVES = 2
_LONGEST_WRITE_S = 3600


@contextmanager
def from_archive(settings: Mapping[str, str]) -> Generator[dict[str, str], None, None]:
    """In this context a local Spark starts with its jars on Java's class path, and with the archive for it.

    settings  with files in `spark.jars`; their classes would not be in the archive otherwise
    Yields: the settings to start with.
    """
    jars = settings.get(_JARS, "").split(",")
    folder = _own_folder() if _may_share(settings, jars) else None
    if folder is None:
        yield dict(settings)
        return
    options = f'{settings.get(_OPTIONS, "")} "{_option(folder, _name(jars))}"'
    with variable(_CLASS_PATH, os.pathsep.join(filter(None, [os.environ.get(_CLASS_PATH), *jars]))):
        yield {key: value for key, value in settings.items() if key != _JARS} | {_OPTIONS: options.strip()}


def _may_share(settings: Mapping[str, str], jars: Sequence[str]) -> bool:
    """Whether all classes come from local jars, and no user option concerns archives."""
    return (
        settings.get("spark.master", "").startswith("local")
        and all(jar and os.pathsep not in jar for jar in jars)
        and not any(word in settings.get(_OPTIONS, "") for word in _OF_ARCHIVES)
        and not any(map(os.environ.get, _FOLDERS))
        and not (spark_home() / "conf").exists()  # Java cannot archive a class path with folders
    )


def _own_folder() -> Path | None:
    """The user's archive folder, if nobody else can write to it: archives contain code that will run."""
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "dbt-sparkivm"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = folder.lstat()
    except OSError as error:
        logger.debug(f"Java starts without a class data archive: {error}")
        return None
    is_own = stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid() and not found.st_mode & 0o022
    return folder if is_own and '"' not in str(folder) else None


def _option(folder: Path, name: str) -> str:
    """Java's option: the archive to use, or the one to write, or one without effect."""
    archive = folder / f"{name}.jsa"
    for part in folder.glob(f"{name}.*.part"):
        with suppress(FileNotFoundError):  # another dbt did the same
            if is_complete(part):
                part.replace(archive)
            elif time.time() - part.stat().st_mtime > _LONGEST_WRITE_S:
                part.unlink()
    if archive.exists():
        os.utime(archive)
        _keep_latest(folder)
        return f"-XX:SharedArchiveFile={archive}"
    if shutil.disk_usage(folder).free < _NEEDED_BYTES:
        return "-Xshare:auto"
    return f"-XX:ArchiveClassesAtExit={folder / name}.{os.getpid()}.part"


def is_complete(archive: Path) -> bool:
    """Whether Java has written the whole file."""
    with archive.open("rb") as file:
        return file.read(len(_HEADER)) == _HEADER


def _keep_latest(folder: Path) -> None:
    by_use = sorted(folder.glob("*.jsa"), key=lambda file: file.stat().st_mtime, reverse=True)
    for file in by_use[_MOST_ARCHIVES:]:
        file.unlink(missing_ok=True)


def _name(jars: Sequence[str]) -> str:
    """A digest of Java and of the files on the class path."""
    java = Path(os.path.realpath(java_command() or "java"))
    files = [
        java,
        java.parent.parent / "lib" / "modules",
        *sorted((spark_home() / "jars").iterdir()),
        *map(Path, jars),
    ]
    digest = hashlib.sha256((os.environ.get(_CLASS_PATH) or "").encode())
    for file in files:
        found = file.stat() if file.exists() else None
        digest.update(f"{file} {found and (found.st_size, found.st_mtime_ns)}\n".encode())
    return digest.hexdigest()[:16]
