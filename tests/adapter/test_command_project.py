"""The dbt project that a subcommand works on, without a run of dbt: its files, and selections."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from dbt.adapters.sparkivm.command import main
from dbt.adapters.sparkivm.command.project import VIEWS, NotStarted, Project, views_of
from dbt.cli.flags import Flags
from dbt.cli.types import Command

PROFILES = (
    "shop: {target: dev, outputs: {dev: {type: sparkivm, method: session, "
    "schema: \"{{ env_var('OF_SHOP') }}\", spark_directory: /unused}}}"
)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A project whose files name an environment variable."""
    (tmp_path / "profiles.yml").write_text(PROFILES)
    (tmp_path / "dbt_project.yml").write_text("name: shop\nprofile: shop\n")
    return Project(str(tmp_path), str(tmp_path), vars="{where: here}")


def test_a_profile_with_an_environment_variable(project, monkeypatch):
    monkeypatch.setenv("OF_SHOP", "analytics")
    assert project.found()[1].schema == "analytics"


@pytest.mark.parametrize(
    ("written", "found"),
    [
        ("artifacts", "artifacts"),
        ("out/{{ env_var('OF_SHOP', 'd') }}", "out/analytics"),
        ("{{ target.name }}/{{ var('where') }}", "dev/here"),
    ],
)
def test_the_target_path_is_rendered_as_dbt_does(project, monkeypatch, written, found):
    monkeypatch.setenv("OF_SHOP", "analytics")
    (project.directory / "dbt_project.yml").write_text(f'name: shop\nprofile: shop\ntarget-path: "{written}"')
    assert project.target_path == project.directory / found


@pytest.mark.parametrize(
    ("variables", "directory", "artifacts"),
    [
        ({"DBT_PROJECT_DIR": "a", "DBT_TARGET_PATH": "x"}, "a", "x"),
        ({"DBT_ENGINE_PROJECT_DIR": "a", "DBT_ENGINE_TARGET_PATH": "x"}, "a", "x"),
        ({"DBT_ENGINE_PROJECT_DIR": "a", "DBT_PROJECT_DIR": "b", "DBT_TARGET_PATH": "x"}, "a", "x"),
        ({"DBT_PROJECT_DIR": "a", "DBT_ENGINE_TARGET_PATH": "x", "DBT_TARGET_PATH": "y"}, "a", "x"),
    ],
)
def test_variables_of_the_environment(tmp_path, monkeypatch, variables, directory, artifacts):
    """As dbt reads them."""
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    assert Project().target_path == Path(directory, artifacts)
    for project in ("a", "b"):
        Path(project).mkdir()
        Path(project, "dbt_project.yml").write_text("name: shop")
    flags: Any = Flags.from_dict(Command.PARSE, {"profiles_dir": "."})
    assert (str(flags.PROJECT_DIR), str(flags.TARGET_PATH)) == (directory, artifacts)


def test_a_target_path_that_cannot_be_rendered(project, monkeypatch):
    monkeypatch.setenv("OF_SHOP", "analytics")
    text = "name: shop\nprofile: shop\ntarget-path: \"{{ env_var('NOT_THERE') }}\""
    (project.directory / "dbt_project.yml").write_text(text)
    with pytest.raises(NotStarted, match=r"Env var required but not provided: 'NOT_THERE'$"):
        _ = project.target_path


@pytest.mark.parametrize("command", ["report", "run"])
@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"name: shop\n\tversion: 1", "is not YAML: Syntax error near line 2"),
        (b"- name", "does not name the project"),
        (b"", "does not name the project"),
        (b"version: 1", "does not name the project"),
        (b"name: \xff", "can't decode byte"),
    ],
)
def test_a_broken_project_is_one_sentence(tmp_path, command, text, message):
    (tmp_path / "dbt_project.yml").write_bytes(text)
    done = CliRunner().invoke(main, [command, "--project-dir", str(tmp_path)], catch_exceptions=False)
    assert (done.exit_code, message in done.output, done.output.count("\n")) == (2, True, 1), done.output


@pytest.mark.parametrize(
    ("select", "parts"),
    [
        (["a"], ["a"]),
        (["a", "b"], ["a", "b"]),
        (["a b", "+c,tag:d"], ["a", "b", "+c,tag:d"]),
        (["a  b"], ["a", "", "b"]),
        ([""], [""]),
    ],
)
def test_each_part_of_a_selection_is_limited_to_views(select, parts):
    """The parts are those that dbt makes of it: an empty one selects nothing."""
    assert views_of(select) == [f"{part},{VIEWS}" for part in parts]
