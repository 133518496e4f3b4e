"""The versions with which a result was measured, in one line."""

from __future__ import annotations

import platform
import subprocess
from importlib.metadata import version

from dbt.adapters.sparkivm.session_defaults import DELTA_VERSION

from benchmarks.paths import REPOSITORY


def versions(cores: int) -> str:
    """dbt-sparkivm with its commit, then the software below it."""
    return (
        f"dbt-sparkivm {version('dbt-sparkivm')}{_commit()}, dbt {version('dbt-core')}, "
        f"Spark {version('pyspark')}, Delta {DELTA_VERSION}, Python {platform.python_version()}, "
        f"{cores} cores"
    )


def _commit() -> str:
    """The commit of this checkout, marked if files differ from it; "" without git."""
    try:
        done = subprocess.run(
            ["git", "describe", "--always", "--dirty", "--exclude=*"],
            cwd=REPOSITORY,
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return ""
    return f" ({done.stdout.strip()})"
