"""docs/tpcds.md: how each of the 99 queries is refreshed."""

from __future__ import annotations

from sparkivm.errors import NotIncremental
from sparkivm.normalize.prune_empty import prune_empty
from sparkivm.plan.compile_model import ViewPlan
from sparkivm.plan.join_order import Sizes
from sparkivm.plan.state import GroupState, State
from sparkivm.plan.state_change import state_change
from sparkivm.plan.steps import Steps, in_steps, step_names
from sparkivm.properties.inlined_size import reads_when_inlined
from tests.tpcds.changes import CHANGING
from tests.tpcds.empty import compiled_model
from tests.tpcds.generator import NUMBERS

_ABOUT = """\
The 99 queries of TPC-DS as models, while all seven fact tables and {dimensions}
change. After each round of changes, all 99 equal their recomputation, in the embedded engine and on Spark and Delta. On
Spark the refresh mode is `strict`, and ANSI is on and off (`make nightly`). `make test` runs a few of them.

Query texts and data come from the package `duckdb-extension-tpcds`. We print the texts in Spark's SQL. Output columns
without a name, or with a name that Delta does not store, get a name. Where a LIMIT would cut through ties, we add all
output columns to ORDER BY. Nothing else is changed. The data has the smallest scale, thinned out
(`tests/tpcds/data.py`), and adjusted to the queries' conditions, so that most results have rows.

**state**: `sums` are entries that add up; `groups` are merged or computed again; `rows` are a bag. **reads**: how often
the statements of a refresh read a table when all these tables changed. **steps**: tables that are computed first
([decision 011](decisions/011-large-plans-in-steps.md))."""


def tpcds_page(printed: str) -> str:
    """The page.

    printed  the line that names the page's generator
    """
    rows = list(map(_row, NUMBERS))
    incremental = sum(" yes |" in row for row in rows)
    facts = f"{incremental} of {len(rows)} queries are incremental."
    table = "\n".join(
        ["| query | incremental | state | reads | steps | reason |", "|---|---|---|---|---|---|", *rows]
    )
    dimensions = ", ".join(table for table in CHANGING[7:-1]) + f" and {CHANGING[-1]}"
    return "\n\n".join(["# TPC-DS", printed, _ABOUT.format(dimensions=dimensions), facts, table]) + "\n"


def _row(number: int) -> str:
    try:
        plan = compiled_model(number)
    except NotIncremental as error:
        fallback = error.fallback
        return f"| {number} | no | – | – | – | `{fallback.reason.name}`: {fallback.detail} |"
    steps = _steps(plan)
    reads = sum(reads_when_inlined(statement) for one in steps for statement in one.statements)
    tables = sum(len(one.tables) for one in steps)
    return f"| {number} | yes | {_kind(plan.state)} | {reads} | {tables} | |"


def _steps(plan: ViewPlan) -> list[Steps]:
    """The steps in which a refresh computes a small state's change."""
    state = plan.state
    form = "append" if isinstance(state, GroupState) and state.linear else "rewrite"
    change = state_change(state, form, plan.tables & set(CHANGING), Sizes())
    names = step_names()
    return [in_steps(prune_empty(part), names) for part in change.parts]


def _kind(state: State) -> str:
    if not isinstance(state, GroupState):
        return "rows"
    return "sums" if state.linear else "groups"
