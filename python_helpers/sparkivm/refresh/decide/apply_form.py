"""The form in which a change reaches the state: the cheapest correct one."""

from __future__ import annotations

from collections.abc import Iterable

from sparkivm.algebra.relation import keeps_append_only
from sparkivm.changes.frontier import Frontier
from sparkivm.engine import RelationFacts
from sparkivm.formats import STATE_FORMATS
from sparkivm.formats.source_change import SourceChange
from sparkivm.plan.compile_model import ViewPlan
from sparkivm.plan.state import GroupState, State
from sparkivm.plan.state_change import Form
from sparkivm.refresh.changed_rows.estimated_size import SMALL_STATE_BYTES
from sparkivm.refresh.decide.state_part import part_columns

# Up to this size a state is rewritten: finding its changed part takes longer.
REWRITTEN_BYTES = 1 << 20
# A reader adds up at most this many entries per group; the next refresh folds them.
MOST_APPENDS = 16
# More changed rows have too many values to list.
MOST_ROWS_REPLACED = 200_000


def apply_form(
    plan: ViewPlan,
    frontier: Frontier,
    state: RelationFacts,
    changes: Iterable[SourceChange],
    *,
    time_went_on: bool,
    adds_up: bool,
) -> Form:
    """The form for these changes of sources.

    time_went_on  whether a moment that the plan depends on changed
    adds_up       whether the public view adds up several entries of a group
    """
    changes = tuple(changes)
    if isinstance(plan.state, GroupState):
        if adds_up and takes_entries(plan.state, state) and frontier.appended < MOST_APPENDS:
            return "append"
        if frontier.several or not plan.state.keys:
            return "rewrite"
    elif not time_went_on and keeps_append_only(plan.core) and all(c.append_only for c in changes):
        return "append"
    if (state.size_bytes or 0) <= REWRITTEN_BYTES:
        return "rewrite"
    few = sum(change.rows for change in changes) <= MOST_ROWS_REPLACED
    return "replace" if few and parts_by(plan.state, state) else without_parts(state)


def without_parts(state: RelationFacts) -> Form:
    """The form for a large state of which no part is replaced."""
    return "merge" if all(field.can_be_merged for field in state.fields) else "rewrite"


def takes_entries(state: State, facts: RelationFacts) -> bool:
    """Whether entries may be appended to the groups of a state; in a large one, adding them up takes long."""
    linear = isinstance(state, GroupState) and state.linear
    return linear and (facts.size_bytes or 0) <= SMALL_STATE_BYTES


def parts_by(state: State, facts: RelationFacts) -> tuple[str, ...]:
    """Columns whose values can select a part of the state."""
    if not STATE_FORMATS[facts.kind].replaces_parts:
        return ()
    return part_columns(facts.fields, state.keys if isinstance(state, GroupState) else state.values)
