"""A dbt project with generated models and the configuration of the bench project."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

from benchmarks.paths import BENCH_PROJECT


def write_project(directory: Path, models: Mapping[str, str], sources: str) -> Path:
    """Write each model's text to its path (given without suffix); `sources` is the YAML of the sources.

    Returns: the directory, which is emptied first.
    """
    shutil.rmtree(directory, ignore_errors=True)
    (directory / "models").mkdir(parents=True)
    for name in ("dbt_project.yml", "profiles.yml"):
        shutil.copy(BENCH_PROJECT / name, directory / name)
    (directory / "models" / "_sources.yml").write_text(sources, encoding="utf-8")
    for name, text in models.items():
        path = directory / "models" / f"{name}.sql"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return directory
