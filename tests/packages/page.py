"""docs/packages.md: how many models of public projects are incremental, and why the others are not."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from tests.packages.outcome import Summary

RESULTS = Path(__file__).resolve().parents[2] / "docs" / "packages.json"
_KINDS = ("incremental", "full", "not tried", "failed")
_ABOUT = """\
All models of dbt projects, made incremental views whatever their own materialization. Each project is built, its seeds change twice
(rows are inserted, updated, set to NULL and deleted), and each view is refreshed and compared with its SELECT, row by row. The mode is
`incremental`, so no view is rebuilt for cost.

```
make packages                                                              # our projects, on the embedded engine
make packages PROJECTS='~/dbt_stripe/integration_tests' SHELVES=~/packages # any project, with folders of dbt packages
```

**embedded**: dbt-spark's adapter over DuckDB, in the process, without a JVM. DuckDB's functions may give other values than Spark's, for
the view and for its SELECT. **Spark**: Spark with Delta, by dbt-spark's method `session` (`python -m tests.packages.run --spark`).

**full**: rebuilt in a refresh. **not tried**: the embedded engine does not have a function of the model, or of a model that it reads.
**failed**: an error, or a wrong row. **compared**: incremental refreshes whose rows were compared. If the rows differ from the SELECT's and the
model orders rows (a window, a LIMIT), they have to equal those of a rebuild."""
_OUR = "Our own projects, in the style of public ones. They are in `tests/packages/projects`, and `make nightly` runs them."
_PUBLIC = """\
At the given version and commit. Nothing of these projects is in this repository: the command runs a local copy. Fivetran's packages are run by
their `integration_tests`, with the packages that they need. For these, two things are set as a project would: the seeds' columns are
quoted, and `fivetran_utils.json_parse` is `get_json_object`, since its own form is SQL for Databricks only. In jaffle-shop, the two largest
seeds are replaced by small ones."""
_WHY = """\
- `QUERY_CHANGED`: the model's text depends on data. Its macros ask the warehouse, for example for the values to pivot by, or for the first and
  last date of a list of days, and write the answer into the SQL. After the changes, the text is different.
- `SOURCE_SCHEMA_CHANGED`: the model reads such a model, whose columns changed.
- `OPERATOR_NOT_SUPPORTED`: the view filters, joins or groups by a window function over a SUM of DOUBLE
  ([decision 021](decisions/021-values-that-depend-on-the-order.md))."""


def read_results(path: Path) -> list[Summary]:
    found = json.loads(path.read_text()) if path.exists() else []
    return [Summary(**entry) for entry in found]


def add_result(new: Summary, path: Path) -> None:
    """Replace the result of the same project on the same engine."""
    kept = [one for one in read_results(path) if (one.project, one.engine) != (new.project, new.engine)]
    ordered = sorted([*kept, new], key=lambda one: (one.engine, one.own, one.project))
    path.write_text(json.dumps([asdict(one) for one in ordered], indent=1) + "\n")


def packages_page(printed: str) -> str:
    """The page.

    printed  the line that names the page's generator
    """
    found = read_results(RESULTS)
    public, own = [one for one in found if not one.own], [one for one in found if one.own]
    parts = ["# Public projects", printed, _ABOUT, "## Public projects", _PUBLIC, _table(public)]
    parts += ["### Reasons", _WHY, _reasons(public), "## Our projects", _OUR, _table(own)]
    if any(one.reasons for one in own):
        parts.append(_reasons(own))
    return "\n\n".join(parts) + "\n"


def _table(found: Sequence[Summary]) -> str:
    rows = [
        f"| {one.project} | {one.version} | {one.engine} | {one.models} | "
        f"{_cells(one.counts)} | {one.refreshes} |"
        for one in found
    ]
    counts = Counter({kind: sum(one.counts.get(kind, 0) for one in found) for kind in _KINDS})
    total = f"| all | | | {counts.total()} | {_cells(counts)} | {sum(one.refreshes for one in found)} |"
    head = f"| project | version | engine | models | {' | '.join(_KINDS)} | share | compared |"
    return "\n".join([head, "|---" * 10 + "|", *rows, total])


def _cells(counts: Mapping[str, int]) -> str:
    """The counts of the kinds, and the share of incremental models."""
    models = sum(counts.values())
    share = f"{100 * counts.get('incremental', 0) / models:.1f} %" if models else "–"
    return " | ".join([*(str(counts.get(kind, 0)) for kind in _KINDS), share])


def _reasons(found: Sequence[Summary]) -> str:
    rows = [
        f"| {one.project} | {one.engine} | {count} | {reason} |"
        for one in found
        for reason, count in one.reasons.items()
    ]
    return "\n".join(["| project | engine | models | reason |", "|---|---|---|---|", *rows])
