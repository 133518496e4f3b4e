"""A copy of a dbt project with its packages and a profile, in which each model is an incremental view."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from dbt.cli.main import dbtRunner

_SCHEMA = "packages"
_LEFT_OUT = shutil.ignore_patterns(".git", "target", "logs", "docs", ".venv", "dbt_modules")
_LISTS = ("packages.yml", "dependencies.yml", "package-lock.yml")
_OLD_PATHS = {"source-paths": "model-paths", "data-paths": "seed-paths"}  # before dbt 1.0
# What packages write in Databricks' dialect, in Spark's; packages dispatch these macros, so projects can replace them.
_REPLACED = {
    "fivetran_utils": """
{% macro spark__json_parse(string, string_path) %}
get_json_object({{ string }}, '$
{%- for part in string_path %}{% if part is number %}[{{ part }}]{% else %}.{{ part }}{% endif %}{% endfor -%}
')
{% endmacro %}
"""
}


class NoProject(Exception):
    """The path is no dbt project, a package is missing, or dbt refuses the project."""


@dataclass(frozen=True)
class Project:
    """A project's copy, ready for dbt.

    directory  of the copy
    variables  of the project, for dbt's `--vars`
    """

    name: str
    version: str
    directory: Path
    variables: Mapping[str, Any]
    schema: str = _SCHEMA

    def dbt(self, command: str, manifest: Any = None, select: Sequence[str] = ()) -> Any:
        """Run a dbt command in this process. Returns: its result.

        Raises: NoProject with dbt's message if it could not start.
        """
        done = dbtRunner(manifest=manifest).invoke(
            [
                *("--quiet", "--log-level", "none", command, "--vars", json.dumps(dict(self.variables))),
                *("--project-dir", str(self.directory), "--profiles-dir", str(self.directory)),
                *(("--select", *select) if select else ()),
            ]
        )
        if done.exception is not None:
            raise NoProject(f"dbt {command} of {self.name} failed: {done.exception}")
        return done.result

    def manifest(self) -> Any:
        """The parsed project: each model an incremental view, each seed a Delta table."""
        manifest = self.dbt("parse")
        for node in manifest.nodes.values():
            if node.resource_type == "model":
                node.config.materialized = "incremental_view"
                node.config._extra["refresh_mode"] = "incremental"
            elif node.resource_type == "seed":
                node.config._extra["file_format"] = "delta"
                node.config.quote_columns = True
        return manifest

    def write_profile(self) -> None:
        target = {"type": "spark", "method": "session", "host": "none", "schema": self.schema, "threads": 1}
        name = _described(self.directory).get("profile", "default")
        profile = {name: {"target": "dev", "outputs": {"dev": target}}}
        (self.directory / "profiles.yml").write_text(json.dumps(profile))


def copied(path: Path, shelves: Sequence[Path], variables: Mapping[str, Any], into: Path) -> Project:
    """Copy a project and the packages that it needs.

    shelves  folders whose subfolders are dbt packages
    Raises: NoProject.
    """
    described = _described(path)
    directory = into / "project"
    shutil.copytree(path, directory, ignore=_LEFT_OUT)
    for needed in _packages(path, shelves, set()):
        package = directory / "dbt_packages" / _described(needed)["name"]
        shutil.copytree(needed, package, ignore=_LEFT_OUT, dirs_exist_ok=True)
        _write_described(package, _described(package))
    for listed in _LISTS:
        (directory / listed).unlink(missing_ok=True)  # everything is there
    for package in directory.glob("dbt_packages/*"):
        if package.name in _REPLACED:
            described = _with_macros(directory, described, package.name)
    _write_described(directory, described)
    root = path.parent if path.name == "integration_tests" else path
    version = str(described.get("version", ""))
    project = Project(root.name, version + _commit(root), directory, variables)
    project.write_profile()
    return _over_its_seeds(project)


def _commit(root: Path) -> str:
    """The commit of a project that is a repository, after a comma."""
    if not (root / ".git").exists():
        return ""
    command = ["git", "-C", str(root), "rev-parse", "--short=10", "HEAD"]
    return f", {subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()}"


def _over_its_seeds(project: Project) -> Project:
    """With seeds in the schema that the sources name, as in the CI of packages."""
    manifest = project.dbt("parse")
    seeds = {node.alias for node in manifest.nodes.values() if node.resource_type == "seed"}
    schemas = {source.schema for source in manifest.sources.values() if source.identifier in seeds}
    there = {node.schema for node in manifest.nodes.values() if node.resource_type == "seed"}
    if len(schemas - there) != 1:
        return project
    found = Project(
        project.name, project.version, project.directory, project.variables, (schemas - there).pop()
    )
    found.write_profile()
    return found


def _with_macros(directory: Path, described: dict[str, Any], package: str) -> dict[str, Any]:
    """The project's description, with our macros before a package's."""
    folder = directory / "macros_for_spark"
    folder.mkdir(exist_ok=True)
    (folder / f"{package}.sql").write_text(_REPLACED[package])
    order = {"macro_namespace": package, "search_order": [described["name"], package]}
    return {
        **described,
        "macro-paths": [*described.get("macro-paths", ["macros"]), folder.name],
        "dispatch": [*described.get("dispatch", []), order],
    }


def _packages(path: Path, shelves: Sequence[Path], seen: set[Path]) -> Iterator[Path]:
    """The packages that a project needs, directly or not, and that are not installed in it."""
    installed = {_plain(one.name) for one in path.glob("dbt_packages/*")}
    for entry in _listed(path):
        if "local" in entry:
            found = (path / entry["local"]).resolve()
        elif _plain(_last(entry)) in installed:
            continue
        else:
            found = _on_a_shelf(_last(entry), shelves)
        if found not in seen:
            seen.add(found)
            yield found
            yield from _packages(found, shelves, seen)


def _listed(path: Path) -> list[dict[str, Any]]:
    for name in _LISTS[:2]:
        if (path / name).is_file():
            return (yaml.safe_load((path / name).read_text()) or {}).get("packages") or []
    return []


def _last(entry: Mapping[str, Any]) -> str:
    return str(entry.get("package") or entry.get("git")).removesuffix(".git").rpartition("/")[2]


def _on_a_shelf(package: str, shelves: Sequence[Path]) -> Path:
    for shelf in shelves:
        for found in sorted(shelf.iterdir()):
            if _plain(found.name) == _plain(package) and (found / "dbt_project.yml").is_file():
                return found.resolve()
    raise NoProject(f"the package {package} is in none of {', '.join(map(str, shelves)) or '(no folders)'}")


def _plain(name: str) -> str:
    """A package's name without what differs between registry and repository: `dbt_x`, `dbt-x`, `x`."""
    return re.sub(r"^dbt|[-_]", "", name.replace("-", "_"))


def _described(path: Path) -> dict[str, Any]:
    file = path / "dbt_project.yml"
    if not file.is_file():
        raise NoProject(f"there is no {file}")
    found: dict[str, Any] = yaml.safe_load(file.read_text())
    return {_OLD_PATHS.get(key, key): value for key, value in found.items()}


def _write_described(directory: Path, described: Mapping[str, Any]) -> None:
    (directory / "dbt_project.yml").write_text(json.dumps({"config-version": 2, **described}))
