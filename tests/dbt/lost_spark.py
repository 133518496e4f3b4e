"""A dbt run in its own process, with a model that never ends; Spark is stopped during the run."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

ENDLESS = """
{{ config(materialized='incremental_view') }}
select count(*) as n from range(10000000000000) where cast(uuid() as string) = 'x'
"""
ROOT = Path(__file__).parents[2]
_DEADLINE_S = 180


def write_project(directory: Path, target: dict[str, Any]) -> None:
    """A project with a model `endless` and a model `other`."""
    project = {
        "name": "lost",
        "version": "1.0",
        "profile": "lost",
        "flags": {"send_anonymous_usage_stats": False},
    }
    profiles = {
        "lost": {
            "target": "t",
            "outputs": {"t": {"type": "sparkivm", "schema": "lost", "threads": 1, **target}},
        }
    }
    (directory / "models").mkdir(parents=True)
    (directory / "models" / "endless.sql").write_text(ENDLESS)
    (directory / "models" / "other.sql").write_text(
        "{{ config(materialized='incremental_view') }} select 2 as a"
    )
    (directory / "dbt_project.yml").write_text(yaml.safe_dump(project))
    (directory / "profiles.yml").write_text(yaml.safe_dump(profiles))


def started(directory: Path, module: str, command: str, *arguments: str) -> subprocess.Popen[str]:
    """A command in a process of its own, in a project: `command` of `module`."""
    return subprocess.Popen(
        [sys.executable, "-c", f"import sys; from {module} import {command}; sys.exit({command}())", *arguments],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "python_helpers"), *sys.path])},
        cwd=directory,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )  # fmt: skip


@contextmanager
def endless_run(directory: Path, log: str = "logs") -> Iterator[subprocess.Popen[str]]:
    """A dbt process whose statement runs in Spark now."""
    run = started(directory, "dbt.cli.main", "cli", "run", "--log-path", log)
    try:
        path, begun = directory / log / "dbt.log", time.monotonic()
        while not (path.exists() and "create or replace table" in path.read_text()):
            assert run.poll() is None, run.communicate()[0]
            assert time.monotonic() - begun < _DEADLINE_S, "the statement does not begin"
            time.sleep(0.5)
        time.sleep(2)  # until Spark runs its job
        yield run
    finally:
        if run.poll() is None:
            run.kill()


def output_of_run(directory: Path, target: dict[str, Any], stop: Callable[[int], None]) -> list[str]:
    """The lines that dbt prints. During the run, `stop(pid of dbt)` is called."""
    write_project(directory, target)
    with endless_run(directory) as run:
        stop(run.pid)
        return lines_of(run)


def lines_of(run: subprocess.Popen[str]) -> list[str]:
    """What a dbt process that fails prints until it ends, without times and colors."""
    text, _ = run.communicate(timeout=_DEADLINE_S)
    assert run.returncode == 1
    return [re.sub(r"^\d\d:\d\d:\d\d  ", "", re.sub(r"\x1b\[\d*m", "", line)) for line in text.splitlines()]


def errors_in(lines: list[str]) -> dict[str, list[str]]:
    """By model: the lines below the last `Database Error in model x …`."""
    found: dict[str, list[str]] = {}
    said: list[str] | None = None
    for line in lines:
        model = re.match(r"\s*(?:Database|Runtime|Compilation) Error in model (\w+)", line)
        if model:
            said = found[model[1]] = []
        elif said is not None and line.startswith("  "):
            said.append(line.strip())
        else:
            said = None
    return found
