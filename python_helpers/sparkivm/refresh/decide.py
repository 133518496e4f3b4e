"""What a refresh does: a list of guards, cheapest first, then a comparison of costs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from sparkivm.algebra.relation import keeps_append_only
from sparkivm.changes.frontier import Frontier
from sparkivm.changes.source_change import SourceChange, records_changes, source_change
from sparkivm.engine import Engine, RelationFacts
from sparkivm.errors import NotIncremental
from sparkivm.plan.compile_model import ViewPlan
from sparkivm.plan.join_order import Sizes
from sparkivm.plan.key_ranges import KeyRanges
from sparkivm.plan.state import STATE, GroupState, State
from sparkivm.plan.state_change import Form, StateChange, recomputed, state_change
from sparkivm.reasons import Fallback, Reason
from sparkivm.refresh.cost import Estimate, estimate
from sparkivm.refresh.estimated_size import SMALL_STATE_BYTES, estimated_bytes, estimated_rows
from sparkivm.refresh.key_ranges import find_key_ranges
from sparkivm.refresh.questions import ChangedSources
from sparkivm.refresh.request import ChangeCapture, RefreshMode
from sparkivm.refresh.run_memory import Memory
from sparkivm.refresh.silent_changes import may_be_silent, without_silent
from sparkivm.refresh.state_part import part_columns

# Up to this size a state is rewritten: to look for its changed part takes longer.
REWRITTEN_BYTES = 1 << 20
# A reader adds up at most this many entries per group; the next refresh folds them.
MOST_APPENDS = 16
# Sources this small may be read as a whole instead of their changes, which counts as an incremental refresh.
_TINY_BYTES = 32 << 20
# More changed rows than this share of a source are not applied one by one.
_LARGE_SHARE = 0.3
# Above it there are too many values for a list of them.
MOST_ROWS_REPLACED = 200_000
_SMALL_CHANGE_ROWS = 10_000  # below it a share means nothing


@dataclass(frozen=True)
class Decision:
    """`change` is there for an incremental refresh, `fallback` for a full one."""

    mode: Literal["no_op", "incremental", "full"]
    changes: Mapping[str, SourceChange]
    change: StateChange | None = None
    fallback: Fallback | None = None
    explanation: str = ""
    read_bytes: float = 0.0  # of sources, by an incremental refresh
    ranges: KeyRanges = field(default_factory=KeyRanges)
    sizes: Sizes = field(default_factory=Sizes)
    kept: Mapping[str, str] = field(default_factory=dict)  # sources whose rows are in memory, and where
    change_by: Callable[[Form, str], StateChange] | None = field(default=None, repr=False)

    @property
    def kept_changes(self) -> frozenset[str]:
        """Sources whose changes are in memory."""
        return frozenset(key for key, change in self.changes.items() if change.kept)

    def in_form(self, form: Form, part: str) -> StateChange:
        """The change in another form, or of another part of the state."""
        assert self.change_by is not None, "only an incremental refresh has a change"
        return self.change_by(form, part)


def decide(
    engine: Engine,
    plan: ViewPlan,
    frontier: Frontier,
    state: RelationFacts,
    tables: Mapping[str, RelationFacts],
    mode: RefreshMode,
    capture: ChangeCapture,
    moments: Mapping[str, str],
    memory: Memory,
    adds_up: bool,
) -> Decision:
    """Compare the sources with the frontier, and the ways to catch up with each other.

    moments  those of the plan, as they are now
    memory   where rows are that the run reads several times
    adds_up  whether the public view adds up several entries of a group
    """
    changes: dict[str, SourceChange] = {}
    try:
        for key in sorted(plan.tables):
            changes[key] = _change_of(engine, tables[key], frontier, key, capture)
    except NotIncremental as error:
        return Decision("full", changes, fallback=error.fallback)
    moving = frozenset(key for key, text in moments.items() if frontier.moments.get(key) != text)

    tiny = sum(estimated_bytes(tables[key]) for key in plan.tables) <= _TINY_BYTES
    # To compute groups again that did not change may give them other values.
    depends_on_order = isinstance(plan.state, GroupState) and plan.state.recomputed

    def way(moved: Mapping[str, SourceChange]) -> _Way:
        sizes = _sizes(tables, state, moved)

        def change_by(form: Form, part: str) -> StateChange:
            return state_change(plan.state, form, moving.union(moved), sizes, part)

        form = apply_form(plan, frontier, state, moved, moving, adds_up)
        change = change_by(form, next(iter(parts_by(plan.state, state)), ""))
        costs = estimate(change, plan.written, state, tables, moved, sizes)
        # The feed of a rewritten state holds all of its rows as well, so the views above read no more.
        if mode == "auto" and form == "rewrite" and tiny and not depends_on_order:
            again = recomputed(plan.state, plan.content)
            costs_again = estimate(again, plan.written, state, tables, moved, sizes)
            if costs_again.incremental_s < costs.incremental_s:
                how = f"estimated {costs_again.incremental_s:.1f} s to compute all again"
                how += f", {costs.incremental_s:.1f} s from changes"
                return _Way(again, change_by, sizes, costs_again, how)
        return _Way(change, change_by, sizes, costs)

    def is_too_expensive(costs: Estimate, *, at_best: bool = False) -> bool:
        prefers_full = costs.prefers_full_at_best if at_best else costs.prefers_full
        return mode == "auto" and prefers_full and (costs.from_changes.steps > 0 or not tiny)

    asked = may_be_silent(plan.core, tables, changes)
    certain = {key: change for key, change in _moved(changes).items() if key not in asked}
    # Questions take time too: none if a rebuild is cheaper whatever the answers are.
    if asked and certain and is_too_expensive(costs := way(certain).costs, at_best=True):
        return _cheaper_in_full(changes, costs)
    changes = without_silent(ChangedSources(engine, tables, changes, memory), plan.core, asked)
    moved = _moved(changes)
    if not moved and not moving:
        return Decision("no_op", changes)
    if mode == "auto":
        for key, change in moved.items():
            large = _too_large(tables[key], change)
            if large is not None:
                return Decision("full", changes, fallback=large)
    found = way(moved)
    if is_too_expensive(found.costs, at_best=True):
        return _cheaper_in_full(changes, found.costs)
    ranges, changes = find_key_ranges(
        ChangedSources(engine, tables, changes, memory), plan.core, found.change
    )
    moved = _moved(changes)
    costs = found.costs
    if ranges.changed:
        costs = estimate(found.change, plan.written, state, tables, moved, found.sizes, ranges)
    if is_too_expensive(costs):
        return _cheaper_in_full(changes, costs)
    rows = sum(change.rows for change in moved.values())
    changes |= {key: memory.changes(key, changes[key], uses) for key, uses in costs.changes_read.items()}
    kept = {key: memory.rows(key, uses) for key, uses in costs.rows_read.items()}
    time = "time went on, " if moving else ""
    explanation = f"{time}{rows} changed rows, {found.how or costs}"
    return Decision(
        "incremental",
        changes,
        found.change,
        None,
        explanation,
        read_bytes=costs.from_changes.bytes,
        ranges=ranges,
        sizes=found.sizes,
        kept={key: name for key, name in kept.items() if name},
        change_by=found.change_by,
    )


@dataclass(frozen=True)
class _Way:
    """A way to catch up; `how` says why it is not a refresh from changes, if it is not."""

    change: StateChange
    change_by: Callable[[Form, str], StateChange]
    sizes: Sizes
    costs: Estimate
    how: str = ""


def _moved(changes: Mapping[str, SourceChange]) -> dict[str, SourceChange]:
    return {key: change for key, change in changes.items() if change.how != "none"}


def _cheaper_in_full(changes: Mapping[str, SourceChange], costs: Estimate) -> Decision:
    fallback = Fallback(Reason.CHEAPER_IN_FULL, str(costs))
    return Decision("full", changes, fallback=fallback, explanation=str(costs))


def apply_form(
    plan: ViewPlan,
    frontier: Frontier,
    state: RelationFacts,
    moved: Mapping[str, SourceChange],
    moving: frozenset[str],
    adds_up: bool,
) -> Form:
    """The cheapest form that is right for this state."""
    if isinstance(plan.state, GroupState):
        if adds_up and takes_entries(plan.state, state) and frontier.appended < MOST_APPENDS:
            return "append"
        if frontier.several or not plan.state.keys:
            return "rewrite"
    elif not moving and keeps_append_only(plan.core) and all(change.append_only for change in moved.values()):
        return "append"
    if (state.size_bytes or 0) <= REWRITTEN_BYTES:
        return "rewrite"
    few = sum(change.rows for change in moved.values()) <= MOST_ROWS_REPLACED
    return "replace" if few and parts_by(plan.state, state) else without_parts(state)


def without_parts(state: RelationFacts) -> Form:
    """The form for a large state of which no part is replaced."""
    return "merge" if all(field.can_be_merged for field in state.fields) else "rewrite"


def takes_entries(state: State, facts: RelationFacts) -> bool:
    """Whether entries may be appended to the groups of a state; of a large one they take long to add up."""
    linear = isinstance(state, GroupState) and state.linear
    return linear and (facts.size_bytes or 0) <= SMALL_STATE_BYTES


def parts_by(state: State, facts: RelationFacts) -> tuple[str, ...]:
    """Columns by which a part of the state can be told from the rest."""
    return part_columns(facts.fields, state.keys if isinstance(state, GroupState) else state.names)


def _change_of(
    engine: Engine, source: RelationFacts, frontier: Frontier, key: str, capture: ChangeCapture
) -> SourceChange:
    known = frontier.sources[key]
    if source.at == known.at:
        return SourceChange("none", known.version, source.version)
    change = source_change(source, known, engine.commits(source.name, known.version - 1))
    if change.how == "diff" and not records_changes(source) and capture == "never_alter":
        raise NotIncremental(
            Fallback(Reason.CHANGE_CAPTURE_OFF, f"{source.name} does not record its changes")
        )
    return change


def _sizes(
    tables: Mapping[str, RelationFacts], state: RelationFacts, moved: Mapping[str, SourceChange]
) -> Sizes:
    rows = {key: estimated_rows(facts) for key, facts in tables.items()}
    rows[STATE] = estimated_rows(state)
    changed = {
        key: rows[key] if change.how == "diff" and not change.rows else float(change.rows)
        for key, change in moved.items()
    }
    return Sizes(rows, changed)


def _too_large(source: RelationFacts, change: SourceChange) -> Fallback | None:
    # A small source may be a view's state that was rewritten: what changed in it is known after netting only.
    small = source.size_bytes is None or source.size_bytes <= SMALL_STATE_BYTES
    if small or change.rows <= _SMALL_CHANGE_ROWS:
        return None
    share = change.rows / estimated_rows(source)
    if share <= _LARGE_SHARE:
        return None
    return Fallback(
        Reason.CHANGE_TOO_LARGE,
        f"{change.rows} rows of {source.name} changed, about {min(share, 1):.0%} of it, "
        f"limit {_LARGE_SHARE:.0%}",
    )
