"""The HTML report: what it takes from dbt's files and from the states, and that it needs nothing else."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from dbt.adapters.sparkivm.command import main
from dbt.adapters.sparkivm.command.project import NotStarted, Project
from dbt.adapters.sparkivm.report.page import page
from dbt.adapters.sparkivm.report.views_of_run import Run, read_run

REASON = "CHEAPER_IN_FULL"


def result(name: str, status: str = "success", **response: Any) -> dict[str, Any]:
    return {
        "unique_id": f"model.shop.{name}", "status": status, "execution_time": 2.5,
        "message": "it broke" if status == "error" else "OK", "adapter_response": response,
    }  # fmt: skip


RESULTS = [
    result("orders", mode="incremental", rows_inserted=1234, rows_deleted=0, rows_updated=None,
           sources=json.dumps([{"name": "t", "from_version": 1, "to_version": 2}])),
    result("<b>", mode="full", reason=REASON, reason_text=f"{REASON}: estimated 9 s", sources="[]"),
    result("bad", "error"),
    result("plain"),
]  # fmt: skip


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project after a run."""
    views = {
        f"model.shop.{name}": {
            "resource_type": "model", "schema": "analytics", "alias": name,
            "config": {"materialized": "table" if name == "plain" else "incremental_view"},
        }
        for name in ("orders", "<b>", "bad", "plain")
    }  # fmt: skip
    run = {
        "metadata": {"generated_at": "2026-01-02T03:04:05.000000Z"}, "elapsed_time": 12.5,
        "args": {"which": "build"}, "results": RESULTS,
    }  # fmt: skip
    target = tmp_path / "target"
    target.mkdir()
    (target / "manifest.json").write_text(json.dumps({"nodes": views}))
    (target / "run_results.json").write_text(json.dumps(run))
    (tmp_path / "dbt_project.yml").write_text("name: shop & co")
    return tmp_path


def with_states(run: Run) -> Run:
    """The run with what the states tell of the first view."""
    refresh = {"at": "2026-01-02T03:04:05+00:00", "mode": "incremental", "seconds": 1.5, "reason": "",
               "rows_inserted": 3, "rows_deleted": 1, "rows_updated": None}  # fmt: skip
    view = replace(
        run.views[0],
        status={"problem": "", "sources": [{"behind": True, "minutes_behind": 7.0}], "rebuild_seconds": 10.0},
        history=(refresh, {**refresh, "mode": "create", "seconds": None}),
        plan="<svg>plan</svg>",
    )
    return replace(run, views=(view, *run.views[1:]), connected=True)


def test_what_a_run_was(project):
    run = read_run(project / "target" / "run_results.json")
    assert (run.command, run.seconds, run.others, run.others_s) == ("dbt build", 12.5, 1, 2.5)
    assert [(view.name, view.outcome) for view in run.views] == [
        ("analytics.orders", "incremental"), ("analytics.<b>", "full"), ("analytics.bad", "error"),
    ]  # fmt: skip
    assert run.views[1].reason == (REASON, "estimated 9 s")
    assert run.views[2].message == "it broke"


def test_the_page_without_a_connection(project):
    where = ["--project-dir", str(project)]
    done = CliRunner().invoke(main, ["report", "--offline", *where], catch_exceptions=False)
    text = Path(done.output.strip()).read_text()
    assert "Incremental views of shop &amp; co" in text
    assert "without a connection" in text
    assert "1,234" in text
    assert "CHEAPER_IN_FULL: estimated 9 s" in text
    assert "set refresh_mode: incremental to never rebuild for cost" in text
    assert "it broke" in text
    assert "Refreshes over time" not in text


def test_the_page_with_what_the_states_tell(project):
    run = with_states(read_run(project / "target" / "run_results.json"))
    text = page("shop", run)
    assert "saved by 1 view" in text
    assert "7.50 s" in text, "10 s minus 2.5 s"
    assert "1 source changed since, 7 min ago" in text
    assert re.findall(r'<i class="(\w+)" style="height:(\d+)px"', text) == [
        ("create", "6"),
        ("incremental", "44"),
    ]
    assert 'refreshed from changes, 1.50 s, +3 -1"' in text
    assert "<details><summary>analytics.orders</summary>" in text
    assert "<svg>plan</svg>" in text


def test_the_page_needs_nothing_else(project):
    text = page("<i>", with_states(read_run(project / "target" / "run_results.json")))
    assert not re.search(r"<(script|link|img|iframe)|https?:|@import|url\(", text)
    assert "analytics.<b>" not in text, "names are escaped"
    assert "<title>&lt;i&gt;: incremental views</title>" in text


def test_without_a_connection_it_says_so_and_goes_on(project, monkeypatch):
    def fails(self: Project, macro: str, arguments: object) -> str:
        raise NotStarted("no Spark")

    monkeypatch.setattr(Project, "answer", fails)
    output = project / "there.html"
    arguments = ["report", "--project-dir", str(project), "--output", str(output)]
    done = CliRunner().invoke(main, arguments, catch_exceptions=False)
    assert done.exit_code == 0
    assert "no history and no plans: no Spark" in done.output
    assert output.exists()


@pytest.mark.parametrize(
    ("files", "message"), [((), "has no dbt_project.yml"), (("dbt_project.yml",), "has no run of dbt")]
)
def test_without_a_run(tmp_path, files, message):
    for name in files:
        (tmp_path / name).write_text("name: shop")
    done = CliRunner().invoke(main, ["report", "--project-dir", str(tmp_path)])
    assert done.exit_code == 2
    assert message in done.output


def test_the_project_and_its_artifacts_are_where_dbt_looks_for_them(project, monkeypatch):
    """In a parent directory, or where the environment says; under `target-path`."""
    (project / "models").mkdir()
    (project / "target").rename(project / "artifacts")
    (project / "dbt_project.yml").write_text("name: shop\ntarget-path: artifacts")
    monkeypatch.chdir(project / "models")
    assert CliRunner().invoke(main, ["report", "--offline"], catch_exceptions=False).exit_code == 0
    monkeypatch.chdir(project.parent)
    monkeypatch.setenv("DBT_PROJECT_DIR", str(project))
    (project / "artifacts").rename(project / "elsewhere")
    monkeypatch.setenv("DBT_TARGET_PATH", "elsewhere")
    done = CliRunner().invoke(main, ["report", "--offline"], catch_exceptions=False)
    assert Path(done.output.strip()) == project / "elsewhere" / "report.html"
