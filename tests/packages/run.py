"""Runs all models of dbt projects as incremental views. `python -m tests.packages.run PATH… --packages DIRECTORY…`"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.packages.embedded import EmbeddedWarehouse
from tests.packages.outcome import Summary
from tests.packages.project import NoProject, copied
from tests.packages.trial import Trial


def tried(path: Path, shelves: Sequence[Path], variables: dict[str, Any], rounds: int) -> Summary:
    """Run one project on the embedded engine, and print what it found."""
    with tempfile.TemporaryDirectory() as directory:
        project = copied(path, shelves, variables, Path(directory))
        found, outcomes = Trial(project, EmbeddedWarehouse()).run(rounds)
    for one in outcomes:
        if one.kind != "incremental":
            print(f"  {one.kind}: {one.model}: {one.reason}")
    print(f"{found.project} {found.version}: {found.counts}, {found.refreshes} refreshes compared", flush=True)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("paths", nargs="*", type=Path, metavar="PATH", help="dbt projects; by default our own")
    parser.add_argument("--packages", nargs="*", type=Path, default=[], help="folders of dbt packages")
    parser.add_argument("--vars", type=json.loads, default={}, help="variables of the projects, as JSON")
    parser.add_argument("--rounds", type=int, default=2, help="of changes")
    arguments = parser.parse_args()
    failed = False
    for path in arguments.paths:
        try:
            failed |= tried(path, arguments.packages, arguments.vars, arguments.rounds).failed
        except NoProject as error:
            print(f"{path}: {error}", file=sys.stderr)
            failed = True
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
