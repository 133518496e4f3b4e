"""Runs all models of dbt projects as incremental views. `python -m tests.packages.run PATH… --packages DIRECTORY…`"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from tests.packages.embedded import EmbeddedWarehouse
from tests.packages.outcome import Summary, summary
from tests.packages.page import add_result
from tests.packages.project import NoProject, copied
from tests.packages.trial import Trial, Warehouse

OWN = Path(__file__).parent / "projects"
ROUNDS = 2


def own_projects() -> list[Path]:
    return sorted(path.parent for path in OWN.glob("*/dbt_project.yml"))


def tried(
    path: Path,
    warehouse: Warehouse | None = None,
    shelves: Sequence[Path] = (),
    variables: Mapping[str, Any] | None = None,
    rounds: int = ROUNDS,
) -> Summary:
    """Run one project, and print what was found.

    warehouse  an embedded one by default
    shelves    folders of dbt packages
    """
    warehouse = warehouse or EmbeddedWarehouse()
    with tempfile.TemporaryDirectory() as directory:
        project = copied(path, shelves, variables or {}, Path(directory))
        outcomes = Trial(project, warehouse).run(rounds)
    found = summary(project.name, project.version, warehouse.engine, path.parent == OWN, outcomes)
    for one in outcomes:
        if one.reason:
            print(f"  {one.text}")
    counts = ", ".join(f"{count} {kind}" for kind, count in found.counts.items())
    print(f"{found.project} {found.version}: {counts}; {found.refreshes} refreshes compared", flush=True)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "paths", nargs="*", type=Path, metavar="PATH", help="dbt projects; by default our own"
    )
    parser.add_argument("--packages", nargs="*", type=Path, default=[], help="folders of dbt packages")
    parser.add_argument("--vars", type=json.loads, default={}, help="variables of the projects, as JSON")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="of changes")
    parser.add_argument("--spark", action="store_true", help="on a Spark with Delta, not the embedded engine")
    parser.add_argument("--results", type=Path, help="JSON to which the counts are added")
    arguments = parser.parse_args()
    with _spark() if arguments.spark else nullcontext() as warehouse:
        found = [_summary(path, warehouse, arguments) for path in arguments.paths or own_projects()]
    for one in found:
        if one and arguments.results:
            add_result(one, arguments.results)
    return int(any(one is None or "failed" in one.counts for one in found))


def _summary(path: Path, warehouse: Warehouse | None, arguments: argparse.Namespace) -> Summary | None:
    """None if the project cannot be run."""
    try:
        return tried(path.resolve(), warehouse, arguments.packages, arguments.vars, arguments.rounds)
    except NoProject as error:
        print(f"{path}: {error}", file=sys.stderr)
        return None


def _spark() -> AbstractContextManager[Warehouse]:
    from tests.packages.spark import started_spark  # pyspark is imported only if it is used

    return started_spark()


if __name__ == "__main__":
    sys.exit(main())
