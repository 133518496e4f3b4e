"""`sparkivm run`: refreshes the incremental views of a manifest, written by any dbt, in one process.

dbt 2 loads no Python adapters, but parses a project and writes its manifest (decision 026). dbt 1, which is
installed with this package, then runs only the views.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import click
from dbt.adapters.sparkivm.command.project import (
    VIEWS,
    NotStarted,
    Project,
    project_options,
    select_option,
    views_of,
)

_MATERIALIZATION = "macro.dbt_sparkivm.materialization_incremental_view_spark"


@click.command(context_settings={"ignore_unknown_options": True})
@click.option(
    "--manifest",
    "path",
    type=click.Path(path_type=Path),
    help="[default: manifest.json where dbt writes its artifacts]",
)
@select_option
@project_options
@click.argument("rest", nargs=-1, type=click.UNPROCESSED)
@click.pass_context
def run(
    context: click.Context,
    project: Project,
    path: Path | None,
    select: tuple[str, ...],
    rest: tuple[str, ...],
) -> None:
    """Refresh the incremental views of a manifest. Other options are passed to `dbt run`."""
    from dbt.artifacts.schemas.manifest import WritableManifest
    from dbt.cli.main import dbtRunner
    from dbt.contracts.graph.manifest import Manifest
    from dbt_common.exceptions import DbtRuntimeError

    path = path or project.target_path / "manifest.json"
    if not path.is_file():
        raise NotStarted(f"there is no manifest {path}; run `dbt parse`, or name it with --manifest")
    try:
        found = WritableManifest.read_and_check_versions(str(path))
    except DbtRuntimeError as error:
        raise NotStarted(f"{path} is not a manifest that this dbt can read: {error}") from error
    manifest = Manifest.from_writable_manifest(found)
    if _MATERIALIZATION not in manifest.macros:
        macros = _macros_of_dbt(project)
        if _MATERIALIZATION not in macros:
            why = "its type has to be spark, databricks or sparkivm, and DBT_SPARKIVM must not be off"
            raise NotStarted(f"the profile's adapter has no incremental views: {why}")
        manifest.macros.update(macros)
    command = ["run", *project.options(), *rest, "--select", *(views_of(select) if select else (VIEWS,))]
    done = dbtRunner(manifest=manifest).invoke(command)
    if done.exception is not None:
        raise NotStarted(str(done.exception))
    context.exit(0 if done.success else 1)


def _macros_of_dbt(project: Project) -> dict[str, Any]:
    """The macros of dbt 1, its adapter and this package, parsed with an otherwise empty project."""
    from dbt.cli.main import dbtRunner

    described = project.described()
    kept = {key: described[key] for key in ("name", "version", "profile") if key in described}
    with tempfile.TemporaryDirectory() as directory:
        Path(directory, "dbt_project.yml").write_text(json.dumps(kept))
        done = dbtRunner().invoke(["parse", "--project-dir", directory, *project.options(with_project=False)])
        if done.exception is not None:
            raise NotStarted(str(done.exception))
        parsed: Any = done.result
        return dict(parsed.macros)
