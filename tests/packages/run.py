"""Runs all models of dbt projects as incremental views. `python -m tests.packages.run PATH… --packages DIRECTORY…`"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.packages.embedded import EmbeddedWarehouse
from tests.packages.outcome import Summary, summary
from tests.packages.page import add_result
from tests.packages.project import NoProject, copied
from tests.packages.trial import Trial

OWN = Path(__file__).parent / "projects"
ROUNDS = 2


def tried(
    path: Path, shelves: Sequence[Path] = (), variables: Mapping[str, Any] | None = None, rounds: int = ROUNDS
) -> Summary:
    """Run one project on the embedded engine, and print what it found.

    shelves  folders of dbt packages
    """
    with tempfile.TemporaryDirectory() as directory:
        project = copied(path, shelves, variables or {}, Path(directory))
        outcomes = Trial(project, EmbeddedWarehouse()).run(rounds)
    found = summary(project.name, project.version, EmbeddedWarehouse.engine, path.parent == OWN, outcomes)
    for one in outcomes:
        if one.kind != "incremental":
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
    parser.add_argument("--results", type=Path, help="JSON to which the counts are added")
    arguments = parser.parse_args()
    failed = False
    for path in arguments.paths or sorted(OWN.iterdir()):
        try:
            found = tried(path.resolve(), arguments.packages, arguments.vars, arguments.rounds)
        except NoProject as error:
            print(f"{path}: {error}", file=sys.stderr)
            failed = True
            continue
        failed |= "failed" in found.counts
        if arguments.results:
            add_result(found, arguments.results)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
