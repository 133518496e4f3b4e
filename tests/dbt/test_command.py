"""The command `sparkivm` on a project with one state in Delta and one in Iceberg."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from dbt.adapters.sparkivm.command import main
from dbt.tests.util import run_dbt

from tests.dbt.shop_project import CHANGES, LINES, SOURCES, SUMS, run_sql, sources_in

pytestmark = [pytest.mark.dbt, pytest.mark.slow]

IN_ICEBERG = SUMS.replace("refresh_mode=", "file_format='iceberg', state_catalog='states', refresh_mode=")
PROPERTIES = SOURCES.partition("models:")[0]


class TestCommand:
    @pytest.fixture(scope="class")
    def models(self):
        return {"lines.sql": LINES, "sums.sql": IN_ICEBERG, "sources.yml": PROPERTIES}

    @pytest.fixture(scope="class", autouse=True)
    def catalog_of_states(self, spark, tmp_path_factory) -> Iterator[None]:
        catalog = "spark.sql.catalog.states"
        settings = {
            catalog: "org.apache.iceberg.spark.SparkCatalog",
            f"{catalog}.type": "hadoop",
            f"{catalog}.cache-enabled": "false",
            f"{catalog}.warehouse": str(tmp_path_factory.mktemp("states")),
        }
        conf = spark.sparkContext._jsc.sc().conf()
        for name, value in settings.items():
            conf.set(name, value)
        yield
        for name in settings:
            conf.remove(name)

    def test_what_is_going_on(self, project):
        run_sql(project, *sources_in())
        run_dbt(["run"])
        run_sql(project, *CHANGES)
        run_dbt(["run"])
        results = Path(project.project_root, "target", "run_results.json")
        written = results.read_text()

        lines, sums = json.loads(sparkivm(project, "status", "--format", "json"))
        assert (lines["view"], sums["view"]) == tuple(f"{project.test_schema}.{n}" for n in ("lines", "sums"))
        assert (lines["format"], sums["format"]) == ("delta", "iceberg")
        assert [lines["rows"], sums["rows"]] == [4, 4]
        for view in (lines, sums):
            assert (view["condition"], view["problem"], view["incremental"]) == ("current", "", True)
            assert view["last_refresh"]["mode"] == "incremental"
            assert 0 < view["last_refresh"]["seconds"] < 600
            assert view["saved_seconds"] == pytest.approx(
                view["rebuild_seconds"] - view["last_refresh"]["seconds"], abs=0.01
            )
            assert view["files"] > 0
            assert view["bytes"] > 0
            age = datetime.now(timezone.utc) - datetime.fromisoformat(view["last_refresh"]["at"])
            assert 0 <= age.total_seconds() < 600

        run_sql(project, "insert into {schema}.orders values (6, 1, 3)")
        found = json.loads(sparkivm(project, "status", "--select", "lines", "--format", "json"))
        assert [view["condition"] for view in found] == ["behind"]
        customers, orders = found[0]["sources"]
        assert (customers["behind"], orders["behind"]) == (False, True)
        assert (orders["commits_behind"], orders["changed_rows"]) == (1, 1)
        assert orders["newest_version"] == orders["version"] + 1
        assert 0 <= orders["minutes_behind"] < 10
        assert 29 < orders["history_days"] <= 30
        table = sparkivm(project, "status")
        assert "behind" in table
        assert "1 commit, 0 min" in table

        for view in ("lines", "sums"):
            newest, first = json.loads(sparkivm(project, "history", view, "--format", "json"))
            assert (newest["mode"], first["mode"]) == ("incremental", "create")
            assert newest["version"] > first["version"]
            assert "incremental" in sparkivm(project, "history", view, "--limit", "1")

        assert changes(project, "lines") == {
            ("removed", "1", "10.00", "Ada", "eu"), ("added", "5", "2.50", "Cyd", "eu"),
            ("removed", "3", "7.00", "Bob", "us"), ("added", "3", "7.00", "Bob", "eu"),
        }  # fmt: skip
        assert changes(project, "sums") == {
            ("removed", "Ada", "eu", "2", "15.00", "10.00"), ("added", "Ada", "eu", "1", "5.00", "5.00"),
            ("removed", "Bob", "us", "1", "7.00", "7.00"), ("added", "Bob", "eu", "1", "7.00", "7.00"),
            ("added", "Cyd", "eu", "1", "2.50", "2.50"),
        }  # fmt: skip
        assert "(--limit)" in sparkivm(project, "changes", "lines", "--limit", "1")

        assert json.loads(sparkivm(project, "leftovers", "--format", "json")) == []
        assert "there are no leftovers" in sparkivm(project, "leftovers")
        assert "next refresh: incremental" in sparkivm(project, "explain", "lines")
        assert "LeftJoin" in sparkivm(project, "explain", "lines", "--format", "svg")

        page = Path(sparkivm(project, "report").strip())
        text = page.read_text()
        assert text.count("<details>") == text.count("<svg ") == 2
        assert "refreshed from changes" in text
        assert "http" not in text.replace('xmlns="http://www.w3.org/2000/svg"', "")
        assert results.read_text() == written, "the results of the run are still there"

        said = sparkivm(project, "history", "nothing", exit_code=1)
        assert "there is no model named nothing" in said


def sparkivm(project: Any, *arguments: str, exit_code: int = 0) -> str:
    """What the command prints."""
    where = ["--project-dir", str(project.project_root), "--profiles-dir", str(project.profiles_dir)]
    done = CliRunner().invoke(main, [*arguments, *where], catch_exceptions=False)
    assert done.exit_code == exit_code, done.output
    return done.output


def changes(project: Any, view: str) -> set[tuple[str, ...]]:
    found = json.loads(sparkivm(project, "changes", view, "--format", "json"))
    assert all(row["times"] == 1 for row in found["rows"])
    return {(row["change"], *map(str, row["values"])) for row in found["rows"]}
