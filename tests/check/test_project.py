"""How the nodes of a dbt project are visited, over the fake engine instead of a connection."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from dbt.adapters.spark.impl import SparkAdapter
from dbt.adapters.sparkivm.borrowed import BorrowingMixin
from dbt.adapters.sparkivm.command import main

from sparkivm.engine import EngineLost
from tests.check.checked_project import MODELS, ORDERS, SEEDS, SNAPSHOTS, VERDICTS
from tests.dbt.spark_project import parse, write_files
from tests.refresh.lab import SCHEMA, Lab

pytestmark = pytest.mark.slow

PROFILE = "p: {target: dev, outputs: {dev: {type: spark, method: session, host: none, schema: shop}}}"
PACKAGE = {
    "theirs/dbt_project.yml": "{name: theirs, version: 1.0.0, models: {+materialized: view}}",
    "theirs/models/of_package.sql": "\n\nselect id,\n  uuid() as u\nfrom {{ ref('latest') }}",
}
OTHERS = {
    "packages.yml": "packages: [{local: theirs}]",
    "models/in_python.py": "def model(dbt, session):\n    return dbt.ref('staged')\n",
    "models/of_python.sql": "select * from {{ ref('in_python') }}",
    "models/inside.sql": "{{ config(materialized='ephemeral') }} select * from {{ ref('in_python') }}",
    "models/of_inside.sql": "select * from {{ ref('inside') }}",
    "models/same_state.sql": "{{ config(alias='sales__ivm') }} select 1 as a",
    "models/wrong_option.sql": "{{ config(refresh_mode='sometimes') }} select id from {{ ref('staged') }}",
    "models/in_catalog.sql": "{{ config(schema='lake.gold') }} select id from {{ ref('staged') }}",
    "models/of_wrong_option.sql": "select id from {{ ref('wrong_option') }}",
    "models/with_function.sql": "{{ config(sql_header='create temporary function f as \"F\"') }} select f(id) as f from {{ ref('staged') }}",
}


@pytest.fixture
def lab(monkeypatch):
    lab = Lab()
    lab.run(ORDERS.format(schema=SCHEMA))
    monkeypatch.setattr(BorrowingMixin, "ivm_engine", lambda self: lab.engine)
    monkeypatch.setattr(SparkAdapter, "get_relation", lambda *others, **named: None)  # of is_incremental()
    monkeypatch.setattr(
        BorrowingMixin, "_execute_header", lambda self, options: lab.executed.append(options.header)
    )
    lab.executed = []
    return lab


@pytest.fixture(scope="module")
def parsed(tmp_path_factory):
    """The project's files, and what dbt keeps of a parse for the next one."""
    root = tmp_path_factory.mktemp("parsed")
    write_files(
        root, {"dbt_project.yml": "{name: shop, version: 1.0.0, profile: p}", "profiles.yml": PROFILE}
    )
    write_files(root, {f"models/{name}": text for name, text in MODELS.items()})
    write_files(root, {f"seeds/{name}": text for name, text in SEEDS.items()})
    write_files(root, {"snapshots/snapshots.yml": SNAPSHOTS})
    parse(root)
    return root


@pytest.fixture
def root(tmp_path, parsed):
    return shutil.copytree(parsed, tmp_path, dirs_exist_ok=True)


def run(root: Path, *arguments: str) -> Result:
    places = ("--project-dir", str(root), "--profiles-dir", str(root))
    return CliRunner().invoke(main, ["check", *places, "--format", "json", *arguments])


def checked(root: Path, *arguments: str) -> dict[str, dict[str, Any]]:
    done = run(root, *arguments)
    assert done.exit_code == 0, done.stderr
    return {model["name"]: model for model in json.loads(done.stdout)["models"]}


def test_a_project_that_is_not_built(lab, root):
    models = checked(root)
    assert {name: model["verdict"] for name, model in models.items()} == VERDICTS
    assert lab.names() == ["orders"]
    assert [header.statements for header in lab.executed] == [("set spark.sql.ansi.enabled = false",)]


def test_a_selection_reads_what_it_needs(lab, root):
    assert checked(root, "--select", "joined", "random", "--exclude", "random").keys() == {"joined"}
    asked = " ".join(lab.engine.asked)
    assert "of_missing" not in asked
    assert checked(root, "--select", "tag:nothing") == {}


def test_what_is_built_counts_where_the_text_does_not_help(lab, root):
    lab.run("create table broken (id int) using delta")
    models = checked(root, "--select", "broken", "over_broken")
    assert {name: model["verdict"] for name, model in models.items()} == {
        "broken": "unknown",
        "over_broken": "incremental",
    }


def test_other_models(lab, root):
    write_files(root, {**PACKAGE, **OTHERS})
    from dbt.cli.main import dbtRunner

    places = ["--project-dir", str(root), "--profiles-dir", str(root)]
    assert dbtRunner().invoke(["--log-level", "none", "deps", *places]).success
    models = checked(root, "--exclude", "config.materialized:table")
    whats = {name: (model["verdict"], (model["cause"] or {}).get("what")) for name, model in models.items()}
    assert "in_python" not in whats, "it is a table"
    assert (
        whats["of_python"]
        == whats["of_inside"]
        == ("unknown", "it reads in_python, whose columns are not known")
    )
    assert "it is written in python" in checked(root, "--select", "in_python")["in_python"]["cause"]["what"]
    assert "shop.sales__ivm would be its state and the relation of model.shop.same_state" in whats["sales"][1]
    assert whats["wrong_option"][0] == "unknown"
    assert "refresh_mode is 'sometimes'" in whats["wrong_option"][1]
    assert whats["in_catalog"][0] == "unknown"
    assert "a view can only be in the session catalog" in whats["in_catalog"][1]
    assert whats["of_wrong_option"] == ("incremental", None), "the columns are known"
    assert whats["with_function"][0] == "full"
    assert whats["with_function"][1].startswith("sql_header has create temporary function f")
    assert [header.statements for header in lab.executed] == [("set spark.sql.ansi.enabled = false",)]
    assert (models["of_package"]["verdict"], models["of_package"]["cause"]["file_line"]) == ("full", 4)


def test_a_bug_in_one_model_leaves_the_others(lab, root, monkeypatch):
    def broken(name: str) -> Any:
        raise ZeroDivisionError("ours")

    monkeypatch.setattr("dbt.adapters.sparkivm.project_check._remarks_on", broken)
    found = checked(root, "--select", "staged", "wrong_jinja")
    assert found["staged"]["cause"]["what"] == "ZeroDivisionError('ours')"


def test_a_lost_spark_ends_the_check(lab, root, monkeypatch):
    def lost(sql: str) -> Any:
        raise EngineLost("Spark has stopped")

    monkeypatch.setattr(lab.engine, "schema_of", lost)
    done = run(root)
    assert done.exit_code == 2
    assert "Spark has stopped" in done.stderr
