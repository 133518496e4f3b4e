"""A project of `type: spark` with another dbt version than the installed one, in its own process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from tests.dbt.spark_project import (
    CHANGES,
    MODELS,
    SEEDS,
    SNAPSHOTS,
    TABLES,
    write_files,
    write_package,
)

ROOT = Path(__file__).parents[2]
# Packages that differ from the installed ones. dbt-core 1.12 also needs dbt-core-experimental-parser, which cannot be
# built without GitHub, and which only `--use-v2-parser` imports.
VERSIONS = {
    "1.10": ("dbt-core==1.10.23", "dbt-spark==1.10.3"),
    "1.12": (
        "dbt-core==1.12.6",
        "dbt-spark==1.11.0",
        "metricflow==0.213.0",
        "opentelemetry-api==1.45.2",
        "python-dotenv==1.2.4",
    ),
}
_SCRIPT = """
import sys
from dbt.cli.main import dbtRunner
from dbt.version import get_installed_version
found = get_installed_version().to_version_string(skip_matcher=True)
assert found.startswith(sys.argv[1]), found
for arguments in (
    ["deps"],
    ["--warn-error", "parse", "--no-partial-parse"],
    ["run-operation", "run_all", "--args", "{name: tables}"],
    ["build", "--select", "+of_regions"],
    ["run-operation", "run_all", "--args", "{name: changes}"],
    ["run", "--select", "+of_regions"],
):
    result = dbtRunner().invoke(arguments)
    assert result.success, (arguments, result.exception)
"""


def run_with(version: str, project: Path, port: int) -> None:
    """Build, change and refresh the project in a folder. Raises: AssertionError with dbt's output."""
    schema = f"dbt_{version.replace('.', '_')}"
    _write_project(project, schema, port)
    run_beside(VERSIONS[version], project, _SCRIPT, version)


def run_beside(
    packages: Sequence[str],
    project: Path,
    script: str,
    *arguments: str,
    environment: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Run Python in a project's folder; these packages are found before the installed ones.

    Raises: AssertionError with the output.
    """
    folder = project / "packages"
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(folder)]
    if packages:
        subprocess.run([*install, *packages], check=True, stdin=subprocess.DEVNULL)
    places = (folder, ROOT, ROOT / "python_helpers")
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments],
        cwd=project,
        env={
            **{name: value for name, value in os.environ.items() if not name.startswith("DBT_")},
            "PYTHONPATH": os.pathsep.join(map(str, places)),
            "DBT_SEND_ANONYMOUS_USAGE_STATS": "false",
            **environment,
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def _write_project(project: Path, schema: str, port: int) -> None:
    server = f"{{type: spark, method: thrift, host: 127.0.0.1, port: {port}, user: dbt, poll_interval: 1"
    statements = {
        "tables": [
            f"drop schema if exists {schema} cascade",
            f"create schema {schema}",
            *(one.format(schema=schema) for one in TABLES),
        ],
        "changes": [one.format(schema=schema) for one in CHANGES],
    }
    macro = (
        "{% macro run_all(name) %}{% for statement in "
        + json.dumps(statements)
        + "[name] %}{% do run_query(statement) %}{% endfor %}{% endmacro %}"
    )
    files = {
        "dbt_project.yml": "{name: shop, version: 1.0.0, profile: shop, seeds: {+file_format: delta}}",
        "profiles.yml": f"shop: {{target: dev, outputs: {{dev: {server}, schema: {schema}, threads: 2}}}}}}",
        "packages.yml": "{packages: [{local: pricing}]}",
        "macros/run_all.sql": macro,
        "snapshots/snapshots.yml": SNAPSHOTS,
        **{f"models/{name}": text for name, text in MODELS.items()},
        **{f"seeds/{name}": text for name, text in SEEDS.items()},
    }
    write_files(project, files)
    write_package(project)
