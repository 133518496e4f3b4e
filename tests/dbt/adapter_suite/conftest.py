"""The projects of dbt's test classes, for Spark: their tables are Delta tables, and their models can be views."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.dbt.adapter_suite.in_views import materialized_as_view
from tests.dbt.adapter_suite.spark_sql import spark_sql


def profile() -> dict[str, Any]:
    """What the classes create without dbt is a Delta table too."""
    return {
        "type": "sparkivm",
        "method": "session",
        "threads": 4,
        "server_side_parameters": {"spark.sql.sources.default": "delta"},
    }


@pytest.fixture(scope="class")
def dbt_profile_target(spark: Any) -> dict[str, Any]:
    return profile()


@pytest.fixture(scope="class")
def view_config() -> dict[str, Any]:
    """The configuration that makes models incremental views; nothing: they stay what the class says."""
    return {}


@pytest.fixture(scope="class")
def dbt_project_yml(
    dbt_project_yml: dict[str, Any], project_root: Any, view_config: dict[str, Any]
) -> dict[str, Any]:
    """The class's dbt_project.yml over ours, in Spark's words."""
    ours = {kind: {"+file_format": "delta"} for kind in ("models", "seeds", "snapshots")}
    ours["models"].update(view_config)
    text = spark_sql(yaml.safe_dump(_over(ours, dbt_project_yml), width=10**6))
    text = materialized_as_view(text) if view_config else text
    Path(project_root, "dbt_project.yml").write_text(text)
    return dict(yaml.safe_load(text))


@pytest.fixture(scope="class")
def project_files(project_files: None, project_root: Any, view_config: dict[str, Any]) -> None:
    """Write the class's files; make its models views if it asks for it."""
    if view_config:
        for path in Path(project_root, "models").rglob("*.*"):
            path.write_text(materialized_as_view(path.read_text()))


@pytest.fixture(scope="class")
def project(project: Any) -> Any:
    """Spark takes one statement at a time; the classes write several."""
    run_one = project.run_sql

    def run_sql(sql: str, fetch: str | None = None) -> Any:
        result = None
        for statement in filter(str.strip, sql.split(";")):
            result = run_one(statement, fetch)
        return result

    project.run_sql = run_sql
    return project


def _over(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    merged = {**below, **above}
    for key in below.keys() & above.keys():
        if isinstance(below[key], Mapping) and isinstance(above[key], Mapping):
            merged[key] = _over(below[key], above[key])
    return merged
