"""`sparkivm check` on a project of which nothing is built but one source."""

from __future__ import annotations

import json
import os
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner
from dbt.adapters.sparkivm.command import main

from tests.check.checked_project import MODELS, ORDERS, SEEDS, SNAPSHOTS, VERDICTS
from tests.dbt.shop_project import run_sql
from tests.dbt.spark_project import write_files

pytestmark = [pytest.mark.dbt, pytest.mark.slow]


class TestCheck:
    @pytest.fixture(scope="class")
    def dbt_profile_target(self, spark):
        return {"type": "spark", "method": "session", "host": "none", "threads": 2}

    @pytest.fixture(scope="class")
    def models(self):
        return MODELS

    @pytest.fixture(scope="class")
    def seeds(self):
        return SEEDS

    @pytest.fixture(scope="class", autouse=True)
    def orders(self, project):
        write_files(Path(project.project_root), {"snapshots/snapshots.yml": SNAPSHOTS})
        run_sql(project, ORDERS)

    def check(self, project, *arguments):
        os.chdir(project.project_root)
        return CliRunner().invoke(main, ["check", *arguments])

    def test_everything(self, project, root_session, tmp_path):
        before = {row.key: row.value for row in root_session.sql("set").collect()}
        done = self.check(project, "--format", "json")
        assert done.exit_code == 0, done.stderr
        report = json.loads(done.stdout)
        jsonschema.validate(
            report, json.loads((Path(__file__).parents[2] / "docs/check.schema.json").read_text())
        )
        models = {model["name"]: model for model in report["models"]}
        assert {name: model["verdict"] for name, model in models.items()} == VERDICTS, done.stdout
        there = project.run_sql(f"show tables in {project.test_schema}", fetch="all")
        assert [row[1] for row in there] == ["orders"], "nothing was built"
        assert {row.key: row.value for row in root_session.sql("set").collect()} == before

        random, broken = models["random"]["cause"], models["broken"]["cause"]
        assert (random["code"], random["file_line"]) == ("NON_DETERMINISTIC_EXPRESSION", 4)
        assert (random["text"], random["column"]) == ("RAND()", 3)
        assert "UNRESOLVED_COLUMN" in broken["what"]
        assert (broken["text"], broken["file_line"]) == ("l.nothing", 3)
        assert models["over_broken"]["cause"]["what"] == "it reads broken, whose columns are not known"
        assert "missing" in models["of_missing"]["cause"]["what"]
        assert "no such thing" in models["wrong_jinja"]["cause"]["what"]
        edits = models["latest"]["edits"]
        assert [edit["lines"] for edit in edits] == [[4], [4], []]
        assert edits[2]["what"] == "an incremental_view ignores incremental_strategy, unique_key"
        assert any("regions through a mirror" in remark for remark in models["joined"]["remarks"])

        earlier = tmp_path / "earlier.json"
        for model in report["models"]:
            if model["name"] == "random":
                model["verdict"], model["cause"] = "incremental", None
        earlier.write_text(json.dumps(report))
        gate = ("--compare", str(earlier), "--fail-on", "regression")
        done = self.check(project, "--select", "random", "sales", *gate)
        assert done.exit_code == 1, done.stdout
        assert "  became full: random (NON_DETERMINISTIC_EXPRESSION)" in done.stdout.splitlines()
        assert "removed" not in done.stdout
        done = self.check(project, "--select", "+sales", "--format", "markdown", "--fail-on", "full")
        assert done.exit_code == 0, done.stdout
        assert done.stdout.startswith("## Incremental views of test"), "no other output"
        assert "2 models: 2 incremental" in done.stdout
