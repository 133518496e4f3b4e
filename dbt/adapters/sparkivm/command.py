"""`sparkivm run`: refreshes the incremental views of a manifest, written by any dbt, in one process.

dbt 2 loads no Python adapters, but parses a project and writes its manifest (decision 026). dbt 1, which is
installed with this package, then runs only the views.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

_VIEWS = "config.materialized:incremental_view"
_MATERIALIZATION = "macro.dbt_sparkivm.materialization_incremental_view_spark"


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns: the exit code, as in dbt: 0; 1 for failed views; 2 if the run could not start."""
    parser = argparse.ArgumentParser(prog="sparkivm", description="Incremental views for dbt on Spark.")
    commands = parser.add_subparsers(required=True)
    run = commands.add_parser(
        "run",
        help="refresh the incremental views of a manifest",
        description="Refresh the incremental views of a manifest. Other options are passed to `dbt run`.",
    )
    run.add_argument("--manifest", type=Path, default=Path("target/manifest.json"), help="%(default)s")
    run.add_argument("--select", nargs="+", default=[], help="views to refresh, in dbt's selection syntax")
    for name in ("project-dir", "profiles-dir", "profile", "target"):
        run.add_argument(f"--{name}", help="as in dbt")
    options, rest = parser.parse_known_args(arguments)
    if not options.manifest.is_file():
        return _failed(
            f"there is no manifest {options.manifest}; run `dbt parse`, or name it with --manifest"
        )
    return _run(options, rest)


def _run(options: argparse.Namespace, rest: Sequence[str]) -> int:
    from dbt.artifacts.schemas.manifest import WritableManifest
    from dbt.cli.main import dbtRunner
    from dbt.contracts.graph.manifest import Manifest
    from dbt_common.exceptions import DbtRuntimeError

    profile = [
        part
        for name in ("profiles_dir", "profile", "target")
        if (value := getattr(options, name)) is not None
        for part in (f"--{name.replace('_', '-')}", value)
    ]
    try:
        found = WritableManifest.read_and_check_versions(str(options.manifest))
    except DbtRuntimeError as error:
        return _failed(f"{options.manifest} is not a manifest that this dbt can read: {error}")
    manifest = Manifest.from_writable_manifest(found)
    if _MATERIALIZATION not in manifest.macros:
        macros = _macros_of_dbt(Path(options.project_dir or "."), profile)
        if _MATERIALIZATION not in macros:
            return _failed("the profile's adapter has no incremental views; its type must be spark")
        manifest.macros.update(macros)
    project = ["--project-dir", options.project_dir] if options.project_dir else []
    select = [f"{one},{_VIEWS}" for one in options.select] or [_VIEWS]
    done = dbtRunner(manifest=manifest).invoke(["run", *profile, *project, *rest, "--select", *select])
    if done.exception is not None:
        return _failed(str(done.exception))
    return 0 if done.success else 1


def _macros_of_dbt(project: Path, profile: Sequence[str]) -> dict[str, Any]:
    """The macros of dbt 1, its adapter and this package, parsed with an otherwise empty project."""
    from dbt.cli.main import dbtRunner
    from dbt.clients.yaml_helper import load_yaml_text

    described = load_yaml_text((project / "dbt_project.yml").read_text()) or {}
    kept = {key: described[key] for key in ("name", "version", "profile") if key in described}
    with tempfile.TemporaryDirectory() as directory:
        Path(directory, "dbt_project.yml").write_text(json.dumps(kept))
        done = dbtRunner().invoke(["parse", "--project-dir", directory, *profile])
        if done.exception is not None:
            raise SystemExit(_failed(str(done.exception)))
        parsed: Any = done.result
        return dict(parsed.macros)


def _failed(what: str) -> int:
    print(f"sparkivm: {what}", file=sys.stderr)
    return 2
