"""The changes of a state that was computed again, for the views above it in the same run.

Such a state's feed has all of its old and new rows. For a view above, these are many rows that cancel each
other. But what really changed follows from the changes of the sources:

    Δstate = Δcore

The first view that reads these changes computes them, and the run keeps them in memory.

tested  tests/refresh/test_handed_on.py, tests/spark/test_handed_on.py
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sparkivm.algebra import Unweigh
from sparkivm.algebra.project import renamed
from sparkivm.algebra.relation import has_groups
from sparkivm.engine import Field
from sparkivm.formats.state_format import StateFormat
from sparkivm.names import WEIGHT, in_changes, quoted
from sparkivm.plan.compile_model import ViewPlan
from sparkivm.plan.join_order import RowEstimate, Sizes
from sparkivm.plan.state import BagState
from sparkivm.plan.state_change import core_change
from sparkivm.plan.steps import STEP_WEIGHT
from sparkivm.spark_sql.relations import step_texts
from sparkivm.spark_sql.source_texts import SourceTexts


@dataclass(frozen=True)
class HandedOn:
    """Changed rows, named and typed as in a feed of the state.

    rows     their estimated number
    selects  the queries under a name: of what it reads, then its own
    """

    rows: float
    selects: Callable[[str], Sequence[tuple[str, str]]]


def can_be_handed_on(plan: ViewPlan, fields: Sequence[Field], format: StateFormat) -> bool:
    """Whether only rows change that follow from the changes of the sources, and with the same values.

    Groups that are computed again may have other last digits, and a table may store other types.

    fields  of the state
    """
    return (
        isinstance(plan.state, BagState)
        and not plan.state.stamps
        and not plan.moments
        and not has_groups(plan.core)
        and all(_is_simple(field, format) for field in fields)
    )


def _is_simple(field: Field, format: StateFormat) -> bool:
    type_ = field.spark_type
    as_stored = field.char_length is None and type_.word != "varchar" and format.keeps(type_)
    return as_stored and not type_.parts and type_.cacheable and type_.joinable


def handed_on(
    plan: ViewPlan, changed: frozenset[str], sizes: Sizes, texts: SourceTexts, fields: Sequence[Field]
) -> HandedOn:
    """The changes of a state while the tables in `changed` change.

    fields  of the state
    """
    assert isinstance(plan.state, BagState), "the rows of other states are not those of the core"
    delta = renamed(core_change(plan.state, changed, sizes), plan.state.columns)
    columns = ", ".join(
        f"cast({quoted(field.name)} as {field.type}) as {quoted(in_changes(field.name))}" for field in fields
    )

    def selects(name: str) -> list[tuple[str, str]]:
        *steps, (last, select) = step_texts(Unweigh(delta, STEP_WEIGHT), texts, name)
        shown = f"select {columns}, {STEP_WEIGHT} as {WEIGHT}\nfrom (\n{select}\n) as changed"
        return [*steps, (last, shown)]

    return HandedOn(RowEstimate(sizes)(delta), selects)
