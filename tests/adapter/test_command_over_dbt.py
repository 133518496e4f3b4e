"""The command `sparkivm` through dbt and the macros, over the fake engine instead of Spark."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from dbt.adapters.sparkivm.command import main
from dbt.adapters.sparkivm.incremental_view import IncrementalViewMixin
from dbt.cli.main import dbtRunner

from sparkivm.engine import EngineError, EngineLost
from sparkivm.marker import owner_of
from sparkivm.names import TableName
from tests.dbt.spark_project import parse, write_files
from tests.refresh.conftest import BY_K, one_table
from tests.refresh.lab import Lab, View

pytestmark = pytest.mark.slow

FILES = {
    "dbt_project.yml": "name: shop\nversion: 1.0.0\nprofile: shop\nmodels: {+materialized: incremental_view}",
    # dbt parses again if a connection differs, and by default the directory is in the project.
    "profiles.yml": "shop: {target: dev, outputs: {dev: {type: sparkivm, method: session, schema: shop, spark_directory: /unused}}}",
    "models/m.sql": BY_K.replace("from t", "from shop.t"),
    "models/never_built.sql": "select k from shop.t",
    "models/wrong.sql": "{{ config(refresh_mode='sometimes') }} select k from shop.t",
}


@pytest.fixture(scope="module")
def parsed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project's files, and what dbt keeps of a parse for the next one."""
    root = tmp_path_factory.mktemp("parsed")
    write_files(root, FILES)
    parse(root)
    return root


@pytest.fixture
def project(tmp_path: Path, parsed: Path, monkeypatch: pytest.MonkeyPatch) -> Lab:
    """A project with one view that was built and then refreshed."""
    shutil.copytree(parsed, tmp_path, dirs_exist_ok=True)
    lab = one_table()
    monkeypatch.setattr(IncrementalViewMixin, "ivm_engine", lambda self: lab.engine)
    monkeypatch.chdir(tmp_path)
    view = view_of(lab)
    view.build()
    lab.run("insert into t values (4, 3, 8)")
    view.must_be("incremental")
    return lab


def view_of(lab: Lab) -> View:
    owner = owner_of("shop", "model.shop.m", TableName("shop", "m"))
    return lab.view("m", BY_K).with_(owner=owner)


def told(*arguments: str) -> Any:
    return json.loads(said(*arguments, "--format", "json"))


def said(*arguments: str, exit_code: int = 0) -> str:
    done = CliRunner().invoke(main, [*arguments, "--profiles-dir", "."], catch_exceptions=False)
    assert done.exit_code == exit_code, done.output
    return done.output


def test_what_is_going_on(project):
    views = told("status")
    assert [(view["model"], view["condition"]) for view in views] == [
        ("model.shop.m", "current"), ("model.shop.never_built", "not_built"), ("model.shop.wrong", "broken"),
    ]  # fmt: skip
    assert "refresh_mode is 'sometimes'" in views[2]["problem"]
    assert views[0]["last_refresh"]["mode"] == "incremental"
    project.run("insert into t values (5, 3, 8)")
    (found,) = told("status", "--select", "m")
    assert (found["condition"], found["sources"][0]["commits_behind"]) == ("behind", 1)

    assert [one["mode"] for one in told("history", "m")] == ["incremental", "create"]
    assert [one["mode"] for one in told("history", "m", "--limit", "1")] == ["incremental"]
    assert told("changes", "m")["rows"] == [{"change": "added", "times": 1, "values": [3, 1, 8]}]
    assert told("explain", "m")["next_refresh"]["mode"] == "incremental"
    assert told("leftovers") == []  # in spite of the view with a wrong option


@pytest.mark.parametrize(
    ("file", "former", "text", "catalog"),
    [
        (
            "dbt_project.yml",
            "{+materialized",
            "{+meta: {sparkivm: {file_format: iceberg, state_catalog: states}}, +materialized",
            "states",
        ),
        ("profiles.yml", "method: session,", "method: session, state_format: iceberg,", "sparkivm"),
    ],
)
def test_a_catalog_of_states_is_looked_at_if_no_model_is_a_view(
    project, monkeypatch, file, former, text, catalog
):
    """After the last view with a state there has gone back to a table."""
    Path("dbt_project.yml").write_text(FILES["dbt_project.yml"].replace("incremental_view", "table"))
    Path(file).write_text(Path(file).read_text().replace(former, text))
    listed, looked_at = project.engine.names_like, list[str]()

    def names_like(prefix: TableName) -> Any:
        looked_at.append(str(prefix))
        return listed(prefix)

    monkeypatch.setattr(project.engine, "names_like", names_like)
    said("leftovers")
    assert looked_at == ["shop", f"{catalog}.shop"]
    looked_at.clear()
    operation("drop_incremental_view", "{view: m}")
    assert {"shop.m__ivm", f"{catalog}.shop.m__ivm"} <= {*looked_at}


def test_a_leftover_that_cannot_be_dropped(project):
    """The operation and the command say so, of each relation."""
    Path("models", "m.sql").unlink()
    project.engine.fails("drop view", "no permission", times=2)
    text = operation("incremental_view_leftovers", "{drop: true}")
    assert "shop.m: public view, model.shop.m is not built as the view shop.m; it cannot be dropped" in text
    found = json.loads(said("leftovers", "--drop", "--format", "json", exit_code=1))
    assert [(one["relation"], one["dropped"], bool(one["problem"])) for one in found] == [
        ("shop.m", False, True), ("shop.m__ivm", False, True),
    ]  # fmt: skip
    assert [one["dropped"] for one in told("leftovers", "--drop")] == [True, True]
    assert told("leftovers") == []


def test_a_selection_of_a_view_with_tests(project):
    """dbt selects the tests of a model with it."""
    Path("models", "tests.yml").write_text(
        "models: [{name: m, data_tests: [incremental_view_is_consistent]}]\n"
        "unit_tests: [{name: u, model: m, given: [], expect: {rows: []}}]\n"
    )
    assert [view["model"] for view in told("status", "--select", "m")] == ["model.shop.m"]


TABLE = "{{ config(materialized='table') }} select 1 as k"


@pytest.mark.parametrize("selection", [("stg", "m"), ("stg m",), ("m", "stg m")])
def test_a_selection_with_a_table(project, selection):
    """The option splits its first value at blanks; dbt then splits all values."""
    Path("models", "stg.sql").write_text(TABLE)
    assert [view["model"] for view in told("status", "--select", *selection)] == ["model.shop.m"]


def test_a_run_builds_no_table(project, monkeypatch):
    Path("models", "stg.sql").write_text(TABLE)
    assert dbtRunner().invoke(["parse", "--profiles-dir", "."]).success
    invoke, commands = dbtRunner.invoke, list[list[str]]()

    def lists(self: dbtRunner, command: list[str]) -> Any:
        """What the run would build."""
        commands.append(command)
        return invoke(self, ["list", "--resource-types", "model", *command[1:]])

    monkeypatch.setattr(dbtRunner, "invoke", lists)
    listed = said("run", "--select", "m", "stg m", "--exclude", "wrong never_built", "--quiet")
    assert [command[0] for command in commands] == ["run"]
    assert listed.split() == ["shop.m"]


def let_the_model_print() -> None:
    model = Path("models", "m.sql")
    model.write_text("{% do print('building ' ~ this) %}{% do print('[1') %}" + model.read_text())


def test_what_the_project_prints_is_not_the_answer(project):
    let_the_model_print()
    assert [view["model"] for view in told("status", "--select", "m")] == ["model.shop.m"]
    assert said("check", "--format", "json").count('"verdict"') == 3
    assert told("explain", "m")["next_refresh"]["mode"] == "no_op"


def test_variables(project):
    Path("models", "m.sql").write_text("{{ config(alias=var('name')) }} " + FILES["models/m.sql"])
    (found,) = told("status", "--select", "m", "--vars", "{name: another}")
    assert (found["view"], found["condition"]) == ("shop.another", "not_built")


def test_options_of_views_for_a_whole_folder(project):
    """`meta.sparkivm` of a folder also reaches tables, which are sources of views."""
    text = FILES["dbt_project.yml"].replace(
        "models: {", "models: {+meta: {sparkivm: {change_capture: auto}}, "
    )
    Path("dbt_project.yml").write_text(text)
    Path("models", "t.sql").write_text("{{ config(materialized='table') }} select 1 as k, 1 as x")
    Path("models", "over.sql").write_text("select k, sum(x) as s from {{ ref('t') }} group by k")
    assert told("explain", "over")["next_refresh"]["reason"] == "STATE_MISSING"


def operation(name: str, arguments: str, **options: Any) -> str:
    """What a run-operation prints; the messages of its errors."""
    heard: list[str] = []
    dbtRunner(callbacks=[lambda event: heard.append(str(event.info.msg))]).invoke(
        ["run-operation", name, "--args", arguments, "--profiles-dir", ".", "--quiet"]
    )
    return "\n".join(heard)


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("incremental_view_leftovers", "{drop: 'false'}", "drop is 'false', but must be true or false"),
        ("capture_changes", "{source: shop.t, remove: 'no'}", "remove is 'no', but must be true or false"),
        ("capture_changes", "{source: shop.t, file_format: orc}", "must be one of delta, iceberg"),
        ("drop_incremental_view", "{view: m, project: former}", "project former has no table or view for it"),
        ("incremental_view_status", "{views: 5}", "must be a name or a list of names"),
        ("incremental_view_status", "{views: nothing}", "there is no model named nothing"),
        ("incremental_view_check", "{models: [m, nothing]}", "there is no model named nothing"),
    ],
)
def test_arguments_of_operations(project, name, arguments, message):
    assert message in operation(name, arguments)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [("incremental_view_status", "{views: m}"), ("incremental_view_check", "{models: m}")],
)
def test_one_name_is_a_list_of_one(project, name, arguments):
    printed = operation(name, arguments)
    assert '"model.shop.m"' in printed
    assert "model.shop.wrong" not in printed.partition("left_out")[0]


def test_the_query_of_a_consistency_test_fails_in_place_of_its_compilation(project, monkeypatch):
    """dbt compiles tests in commands that do not run them, such as `docs generate`."""
    write_files(Path("."), {"macros/shown.sql": SHOWN})

    def fails(error: Exception) -> None:
        def describe(name: TableName) -> None:
            raise error

        monkeypatch.setattr(project.engine, "describe", describe)

    assert "raise_error" not in operation("shown", "{}")
    fails(EngineError("no permission on shop.m__ivm"))
    assert "where raise_error('no permission on shop.m__ivm') is null" in operation("shown", "{}")
    fails(EngineLost("there is no Spark"))
    text = operation("shown", "{}")
    assert "there is no Spark" in text
    assert "raise_error" not in text, "nothing else would run either"


SHOWN = """
{% macro shown() %}
  {% set m = api.Relation.create(schema='shop', identifier='m') %}
  {% do print(adapter.incremental_view_consistency_sql(m)) %}
{% endmacro %}
"""


def test_errors(project):
    text = said("history", "nothing", exit_code=1)
    assert "there is no model named nothing" in text
    assert "in macro" not in text, "where it happened in our macros helps nobody"
    assert "run the model" in said("changes", "never_built", exit_code=1)


def test_the_report_has_history_and_plans(project, tmp_path):
    let_the_model_print()
    said("status")  # parses the project, but writes no files of a run
    assert not (tmp_path / "target" / "run_results.json").exists()
    node = {"resource_type": "model", "schema": "shop", "config": {"materialized": "incremental_view"}}
    names = ("m", "never_built", "wrong")
    nodes = {f"model.shop.{name}": {**node, "alias": name} for name in names}
    results = [
        {
            "unique_id": key,
            "status": "success",
            "execution_time": 1.0,
            "adapter_response": {"mode": "incremental"},
        }
        for key in nodes
    ]
    (tmp_path / "target" / "manifest.json").write_text(json.dumps({"nodes": nodes}))
    run = {"metadata": {"generated_at": "2026-01-02T03:04:05Z"}, "elapsed_time": 1.0, "results": results}
    written = tmp_path / "target" / "run_results.json"
    written.write_text(json.dumps({**run, "args": {"which": "test"}}))
    assert "is of `dbt test`, which refreshes nothing" in said("report", exit_code=2)
    written.write_text(json.dumps(run))
    text = Path(said("report").strip()).read_text()
    assert text.count('<div class="times">') == 1
    assert text.count("<svg ") == 2, "the third has a wrong option"
    assert "refresh_mode is &#39;sometimes&#39;" in text
