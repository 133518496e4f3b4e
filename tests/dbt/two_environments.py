"""A project with production, whose manifest is saved, and CI in another schema; both read the same sources."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from dbt.tests.util import run_dbt

from tests.dbt.shop_project import MODELS, SOURCES, run_sql, sources_in

STATE = ["--state", "state"]
CI = [*STATE, "--target", "ci"]
VIEWS = ("lines", "sums", "regions")


class TwoEnvironments:
    """The fixtures; `built` is production."""

    @pytest.fixture(scope="class")
    def models(self, unique_schema):
        return {**MODELS, "sources.yml": SOURCES.replace("{{ target.schema }}", unique_schema)}

    @pytest.fixture(scope="class")
    def ci(self, unique_schema):
        return f"{unique_schema}_ci"

    @pytest.fixture(scope="class")
    def profiles_config_update(self, dbt_profile_target, unique_schema, ci):
        outputs = {"default": {**dbt_profile_target, "schema": unique_schema}}
        outputs["ci"] = {**dbt_profile_target, "schema": ci}
        return {"test": {"outputs": outputs, "target": "default"}}

    @pytest.fixture(scope="class", autouse=True)
    def built(self, project, ci):
        run_sql(project, *sources_in())
        run_dbt(["build"])
        save_state(project)
        project.create_test_schema(ci)


def save_state(project: Any) -> None:
    root = Path(project.project_root)
    (root / "state").mkdir(exist_ok=True)
    shutil.copy(root / "target" / "manifest.json", root / "state")


def edit(project: Any, model: str, text: str) -> None:
    (Path(project.project_root) / "models" / f"{model}.sql").write_text(text)
