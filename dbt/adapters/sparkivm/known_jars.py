"""Remembers the jars that Spark fetched for packages. Later starts name them, since Ivy takes two seconds."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import unquote, urlsplit

from dbt.adapters.sparkivm.environment import spark_home
from dbt.adapters.sparkivm.log import logger
from dbt.adapters.sparkivm.private_directory import private_file, read_own

_PACKAGES, _JARS = "spark.jars.packages", "spark.jars"


def with_known_jars(settings: Mapping[str, str], directory: Path) -> dict[str, str]:
    """The settings, with the jars that an earlier start fetched instead of the packages."""
    asked = _asked(settings)
    known = _known(asked, directory) if asked else []
    if not known:
        return dict(settings)
    rest = {key: value for key, value in settings.items() if key != _PACKAGES}
    return {**rest, _JARS: ",".join(known)}


def remember_jars(settings: Mapping[str, str], fetched: str, directory: Path) -> None:
    """Record which jars Spark fetched for the packages.

    fetched  `spark.jars` of the Spark that was started
    """
    asked = _asked(settings)
    if not asked:
        return
    paths = [Path(unquote(urlsplit(jar).path)) for jar in fetched.split(",") if jar]
    try:
        files = {str(path): path.stat().st_size for path in paths}
        with private_file(_record(directory)) as record:
            record.write(json.dumps({asked: files}).encode())
    except OSError as error:
        logger.debug(f"cannot record the jars, so the next start fetches them again: {error}")


def _asked(settings: Mapping[str, str]) -> str:
    """The packages and their repositories; "" if the next fetch may give others.

    Also "" if somebody names jars, which our list would replace.
    """
    defaults = Path(os.environ.get("SPARK_CONF_DIR") or spark_home() / "conf") / "spark-defaults.conf"
    said = os.environ.get("PYSPARK_SUBMIT_ARGS", "")
    if defaults.exists():
        said += defaults.read_text(errors="replace")
    asked = {key: value for key, value in sorted(settings.items()) if key.startswith(_JARS)}
    if _PACKAGES not in asked or _JARS in asked or "jars" in said or "SNAPSHOT" in asked[_PACKAGES]:
        return ""
    return asked[_PACKAGES] if len(asked) == 1 else json.dumps(asked)


def _known(asked: str, directory: Path) -> list[str]:
    """The recorded jars; none if one of them is missing or changed."""
    try:
        files = json.loads(read_own(_record(directory)))[asked]
        return list(files) if all(Path(path).stat().st_size == size for path, size in files.items()) else []
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return []  # nothing was fetched yet, or somebody deleted it


def _record(directory: Path) -> Path:
    return directory / "jars.json"
