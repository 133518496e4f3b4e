"""Prints the pages of docs/ that repeat code or results. `python scripts/print_docs.py`"""

from __future__ import annotations

import inspect
from pathlib import Path
from types import ModuleType
from typing import get_args

from sparkivm.algebra import (
    Aggregate,
    AnyRelation,
    Filter,
    FullJoin,
    Generate,
    InnerJoin,
    LeftJoin,
    Project,
    Repeat,
    SemiJoin,
    Totals,
    UnionAll,
    Window,
)
from sparkivm.algebra.aggregates import average, bit_xor, count, extremum, recomputed
from sparkivm.algebra.aggregates import sum as sums
from sparkivm.algebra.linear import Linear
from sparkivm.normalize import drop_projects, join_groups, prune_empty, push_filters, share_parts
from sparkivm.plan import bag_changes, group_changes
from sparkivm.reasons import Reason

DOCS = Path(__file__).resolve().parents[1] / "docs"
_PRINTED = "<!-- printed by scripts/print_docs.py; do not edit -->"
_TITLES = {
    "Linear operators": (Linear, Filter, Generate, Project, Repeat, UnionAll),
    "Inner join": (InnerJoin,),
    "Outer and semi joins": (LeftJoin, FullJoin, SemiJoin),
    "Grouping": (Aggregate, Totals),
    "Windows": (Window,),
}
_AGGREGATES = (count, sums, average, bit_xor, extremum, recomputed)
_GROUP_CHANGES = (
    group_changes.entries,
    group_changes.touched_groups,
    group_changes.arguments,
    group_changes.folded,
    group_changes.changed_groups,
    group_changes._reread,
    group_changes._merged,
    group_changes.replaced,
)
_BAG_CHANGES = (
    bag_changes.changes,
    bag_changes.appended,
    bag_changes.merged,
    bag_changes.replaced,
)
_NORMALIZATION = (join_groups, drop_projects, push_filters, share_parts, prune_empty.prune_empty)
_ABOUT_LAWS = """\
What each operator means, how it changes, and how it is restricted to affected keys, from the docstrings.
A, B are relations, ₀ ₁ old and new, d a delta, ⊎ adds weights, K are affected keys, `R|K` is R with keys in
K. The [glossary](glossary.md) defines the terms. `source` is the paper of a law. `tested` is the test that
compares it with new minus old; `make fuzz` does so for random queries."""
_ABOUT_REASONS = """\
Why a refresh was not incremental. The console, `run_results.json` (as `adapter_response.reason`) and the
output of `explain_incremental_view` show the code, with details and, if there is one, the place in the
model's SQL. [Refresh flow](refresh_flow.md) shows when each reason is found. `REFRESH_CONFLICT`
is an error; the view is not rebuilt."""


def laws_page() -> str:
    """Render the docstrings of the operators."""
    parts = ["# Laws", _PRINTED, _ABOUT_LAWS]
    for title, operators in _TITLES.items():
        parts += [f"## {title}", *map(_entry, operators)]
    shown = set().union(*_TITLES.values())
    rest = sorted(set(get_args(AnyRelation)) - shown, key=lambda one: (one.__module__, one.__name__))
    parts += ["## Leaves, Z-sets and restriction", *map(_entry, rest)]
    parts += ["## Aggregates", *map(_entry, _AGGREGATES)]
    parts += ["## How a group state changes", *map(_entry, _GROUP_CHANGES)]
    parts += ["## How a bag state changes", *map(_entry, _BAG_CHANGES)]
    parts += ["## Normalization", *map(_entry, _NORMALIZATION)]
    return "\n\n".join(parts) + "\n"


def reasons_page() -> str:
    """Render every reason with what happened and what to do."""
    rows = [f"| `{reason.name}` | {reason.happened} | {reason.way_out} |" for reason in Reason]
    table = "\n".join(["| code | what happened | what to do |", "|---|---|---|", *rows])
    return "\n\n".join(["# Reasons", _PRINTED, _ABOUT_REASONS, table]) + "\n"


def _entry(documented: object) -> str:
    """Render a name, its file and its docstring."""
    if isinstance(documented, ModuleType):
        name, module = documented.__name__.rpartition(".")[2], documented.__name__
    else:
        name, module = getattr(documented, "__name__", ""), getattr(documented, "__module__", "")
        if inspect.isfunction(documented):  # several modules have a function of the same name
            name = f"{module.rpartition('.')[2]}.{name.lstrip('_')}"
    text = inspect.getdoc(documented)
    if not text:
        raise SystemExit(f"{module}.{name} has no docstring")
    path = module.replace(".", "/") + ".py"
    return f"### {name}\n\n`{path}`\n\n```text\n{text.strip()}\n```"


def tpcds_page() -> str:
    """Render how each TPC-DS query is kept up to date."""
    from tests.tpcds.page import tpcds_page as page  # only this page needs the tests' packages

    return page(_PRINTED)


def packages_page() -> str:
    """Render what became of the models of public projects, from docs/packages.json."""
    from tests.packages.page import packages_page as page

    return page(_PRINTED)


# File name → the function that prints the page.
PRINTED = {
    "laws.md": laws_page,
    "reasons.md": reasons_page,
    "tpcds.md": tpcds_page,
    "packages.md": packages_page,
}


def main() -> None:
    """Write the pages."""
    for name, page in PRINTED.items():
        (DOCS / name).write_text(page(), encoding="utf-8")
        print(f"docs/{name}")


if __name__ == "__main__":
    main()
