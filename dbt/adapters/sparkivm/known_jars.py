"""Delta's jars, once Spark has fetched them. Later starts name the files: Ivy takes two seconds."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import unquote, urlsplit

from dbt.adapters.events.logging import AdapterLogger
from dbt.adapters.sparkivm.environment import spark_home
from dbt.adapters.sparkivm.private_directory import private_file, read_own
from dbt.adapters.sparkivm.session_defaults import delta_package

logger = AdapterLogger("SparkIvm")

_PACKAGES, _JARS = "spark.jars.packages", "spark.jars"


def with_known_jars(settings: Mapping[str, str], directory: Path) -> dict[str, str]:
    """The settings, with the jars that an earlier start fetched in the place of Delta's package."""
    known = _known(directory) if _is_delta_alone(settings) else []
    if not known:
        return dict(settings)
    rest = {key: value for key, value in settings.items() if key != _PACKAGES}
    return {**rest, _JARS: ",".join(known)}


def remember_jars(settings: Mapping[str, str], fetched: str, directory: Path) -> None:
    """Write down which jars Spark fetched for Delta's package.

    fetched  `spark.jars` of the Spark that was started
    """
    if not _is_delta_alone(settings):
        return
    paths = [Path(unquote(urlsplit(jar).path)) for jar in fetched.split(",") if jar]
    try:
        files = {str(path): path.stat().st_size for path in paths}
        with private_file(_record(directory)) as record:
            record.write(json.dumps({delta_package(): files}).encode())
    except OSError as error:
        logger.debug(f"the next start fetches Delta's jars again: {error}")


def _is_delta_alone(settings: Mapping[str, str]) -> bool:
    """Whether nobody names other jars, which a list of ours would replace."""
    defaults = Path(os.environ.get("SPARK_CONF_DIR") or spark_home() / "conf") / "spark-defaults.conf"
    said = os.environ.get("PYSPARK_SUBMIT_ARGS", "")
    if defaults.exists():
        said += defaults.read_text(errors="replace")
    return settings.get(_PACKAGES) == delta_package() and _JARS not in settings and "jars" not in said


def _known(directory: Path) -> list[str]:
    """Jars that are there as they were; none if one of them is not."""
    try:
        files = json.loads(read_own(_record(directory)))[delta_package()]
        return list(files) if all(Path(path).stat().st_size == size for path, size in files.items()) else []
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return []  # nothing was fetched yet, or somebody cleaned up


def _record(directory: Path) -> Path:
    return directory / "jars.json"
