"""Decides what a refresh does: guards, cheapest first, then the cheapest way to catch up.

tested  tests/refresh/test_reasons.py, test_apply_forms.py, test_silent_changes.py; docs/refresh_flow.md
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from sparkivm.algebra import Scan
from sparkivm.algebra.columns_read import columns_read
from sparkivm.engine import Engine, RelationFacts
from sparkivm.errors import NotIncremental
from sparkivm.formats import STATE_FORMATS, format_of
from sparkivm.formats.source_change import SourceChange
from sparkivm.plan.join_order import Sizes
from sparkivm.plan.key_ranges import KeyRanges
from sparkivm.plan.shared_joins import computed, looks_up, read_from
from sparkivm.plan.state import STATE, with_core
from sparkivm.plan.state_change import StateChange, recomputed, state_change
from sparkivm.reasons import Fallback, Reason
from sparkivm.refresh.changed_rows.estimated_size import SMALL_STATE_BYTES, estimated_bytes, estimated_rows
from sparkivm.refresh.changed_rows.handed_on import can_be_handed_on
from sparkivm.refresh.changed_rows.key_ranges import find_key_ranges
from sparkivm.refresh.changed_rows.questions import ChangedSources
from sparkivm.refresh.changed_rows.run_memory import Memory
from sparkivm.refresh.changed_rows.silent_changes import may_be_silent, without_silent
from sparkivm.refresh.decide.apply_form import apply_form, parts_by
from sparkivm.refresh.decide.cost import Estimate, Factors, estimate
from sparkivm.refresh.decide.learned_costs import factors, learned
from sparkivm.refresh.decide.shared_joins import keep_changes
from sparkivm.refresh.observation import Observation
from sparkivm.refresh.sources.mirror import check_mirror_is_there

# Sources this small may be read as a whole instead of their changes; the refresh still counts as incremental.
_TINY_BYTES = 32 << 20
# If a larger share of a source changed, we rebuild.
_LARGE_SHARE = 0.3
_SMALL_CHANGE_ROWS = 10_000  # below it, the share does not matter

Changes = Mapping[str, SourceChange]


@dataclass(frozen=True)
class Way:
    """One way to catch up: what is computed, and its cost.

    sizes     of the relations that are read
    ranges    of the changed keys, where known
    kept      sources whose rows are in memory, and where
    joins     that it reads as tables, and the relations with their changes
    hands_on  whether the views above get the changed rows from the run, not from the state's feed
    why       we do not take the usual way; "" for the usual way
    """

    change: StateChange
    sizes: Sizes
    costs: Estimate
    ranges: KeyRanges = field(default_factory=KeyRanges)
    kept: Mapping[str, str] = field(default_factory=dict)
    joins: Mapping[str, str] = field(default_factory=dict)
    hands_on: bool = False
    why: str = ""


@dataclass(frozen=True)
class Decision:
    """An incremental refresh has a `way`, a full one a `fallback`."""

    mode: Literal["no_op", "incremental", "full"]
    changes: Changes
    way: Way | None = None
    fallback: Fallback | None = None
    explanation: str = ""

    @property
    def kept_changes(self) -> frozenset[str]:
        """Sources whose changes are in memory."""
        return frozenset(key for key, change in self.changes.items() if change.kept)


def decide(engine: Engine, seen: Observation, memory: Memory) -> Decision:
    """Compare the sources with the frontier, and the ways to catch up with each other.

    seen    a view with a plan and a frontier
    memory  where the run keeps rows that it reads several times
    """
    view, core, tables = _view(seen), seen.plan.core, seen.compiled.tables
    try:
        changes = {
            key: memory.handed_on(key, _change_of(engine, seen, key)) for key in sorted(seen.plan.tables)
        }
    except NotIncremental as error:
        return Decision("full", {}, fallback=error.fallback)
    asked = may_be_silent(core, tables, changes)
    certain = {key: change for key, change in _moved(changes).items() if key not in asked}
    # Probes take time too: we skip them if a rebuild is cheaper whatever they find.
    if asked and certain and view.is_too_expensive(costs := view.way(certain).costs, at_best=True):
        return _cheaper_in_full(changes, costs)
    read = columns_read(core, Scan)
    sources = recorded = ChangedSources(engine, tables, changes, memory, read)
    changes = without_silent(sources, asked)
    moved = _moved(changes)
    if not moved and not view.moving:
        return Decision("no_op", changes)
    for key, change in moved.items() if view.may_rebuild else ():
        if large := _too_large(tables[key], change):
            return Decision("full", changes, fallback=large)
    way = _over_shared_joins(view, view.way(moved), moved, recorded)
    if view.is_too_expensive(way.costs, at_best=True):
        return _cheaper_in_full(changes, way.costs)
    ranges, changes = find_key_ranges(replace(sources, changes=changes), core, way.change)
    if ranges.changed:
        costs = view.estimate(way.change, _moved(changes), way.sizes, ranges)
        way = replace(way, ranges=ranges, costs=costs)
    if view.is_too_expensive(way.costs):
        return _cheaper_in_full(changes, way.costs)
    changes |= {
        key: memory.changes(key, changes[key], uses, read[key])
        for key, uses in way.costs.changes_read.items()
    }
    kept = {key: memory.rows(key, uses, read[key]) for key, uses in way.costs.rows_read.items()}
    way = replace(way, kept={key: name for key, name in kept.items() if name})
    time = "the current time changed, " if view.moving else ""
    rows = sum(change.rows for change in moved.values())
    return Decision(
        "incremental", changes, way, explanation=f"{time}{rows} changed rows, {way.why or way.costs}"
    )


@dataclass(frozen=True)
class _View:
    """The input for computing ways.

    moving       keys of the moments that changed
    automatic    whether costs decide
    may_rebuild  whether they may decide for a rebuild
    """

    seen: Observation
    moving: frozenset[str]
    automatic: bool
    may_rebuild: bool
    factors: Factors

    @property
    def tiny(self) -> bool:
        tables = self.seen.compiled.tables
        return sum(estimated_bytes(tables[key]) for key in self.seen.plan.tables) <= _TINY_BYTES

    @property
    def part(self) -> str:
        """The column that may select a part of the state; "" if none can."""
        return next(iter(parts_by(self.seen.plan.state, self.seen.state)), "")

    def way(self, moved: Changes) -> Way:
        """The cheapest way to apply some changes."""
        seen, plan = self.seen, self.seen.plan
        sizes = _sizes(seen.compiled.tables, seen.state, moved)
        form = apply_form(
            plan, seen.frontier, seen.state, moved.values(),
            time_went_on=bool(self.moving), adds_up=seen.adds_up,
        )  # fmt: skip
        change = state_change(plan.state, form, self.moving.union(moved), sizes, self.part)
        way = Way(change, sizes, self.estimate(change, moved, sizes))
        if form == "append" or not (self.automatic and self.tiny):
            return way
        # The feed of a state that is computed again has all of its rows, so the views above read more; except
        # where the state would be rewritten anyway, or hands on what changed.
        is_read, state_format = seen.request.is_read, STATE_FORMATS[seen.state.kind]
        hands_on = is_read and can_be_handed_on(plan, seen.state.fields, state_format)
        if is_read and not hands_on and form != "rewrite":
            return way
        change = recomputed(plan.state, plan.content)
        costs = self.estimate(change, moved, sizes)
        if costs.incremental_s >= way.costs.incremental_s:
            return way
        why = f"estimated {costs.expected_s:.1f} s to recompute"
        why = f"{why}, {way.costs.expected_s:.1f} s from changes"
        return Way(change, sizes, costs, hands_on=hands_on, why=why)

    def estimate(
        self, change: StateChange, moved: Changes, sizes: Sizes, ranges: KeyRanges | None = None
    ) -> Estimate:
        seen = self.seen
        return estimate(
            change, seen.plan.written, seen.state, seen.compiled.tables, moved, sizes,
            ranges or KeyRanges(), self.factors,
        )  # fmt: skip

    def is_too_expensive(self, costs: Estimate, *, at_best: bool = False) -> bool:
        prefers_full = costs.prefers_full_at_best if at_best else costs.prefers_full
        return self.may_rebuild and prefers_full and (costs.from_changes.steps > 0 or not self.tiny)


def _view(seen: Observation) -> _View:
    then = seen.frontier.moments
    moving = frozenset(key for key, text in seen.moments.items() if then.get(key) != text)
    # A rebuild, or a state that is computed again, would stamp all rows.
    automatic = seen.request.refresh_mode == "auto" and not seen.plan.state.stamps
    may_rebuild = automatic and seen.request.full_refresh_allowed
    return _View(seen, moving, automatic, may_rebuild, factors(learned(seen.stored)))


def _over_shared_joins(view: _View, way: Way, moved: Changes, sources: ChangedSources) -> Way:
    """The same change over joins whose changes the run computes once, if it reads only these.

    moved    the changes that this view sees
    sources  all changes
    """
    joins = {join.key: join for join in sources.memory.joins if not join.tables.isdisjoint(moved)}
    core = read_from(view.seen.plan.core, joins.values())
    used = {key: join for key, join in joins.items() if key in core.tables}
    if not used or way.change.form == "recompute":
        return way
    changed = view.moving.union(moved, used)
    change = state_change(
        with_core(view.seen.plan.state, core), way.change.form, changed, way.sizes, view.part
    )
    if looks_up(change, used):
        return way
    change = computed(change, used)
    costs = view.estimate(change, moved, way.sizes)
    if costs.incremental_s > way.costs.incremental_s:
        return way
    kept = {key: keep_changes(join, sources, way.sizes) for key, join in used.items()}
    return Way(change, way.sizes, costs, joins=kept) if all(kept.values()) else way


def _moved(changes: Changes) -> dict[str, SourceChange]:
    return {key: change for key, change in changes.items() if change.how != "none"}


def _cheaper_in_full(changes: Changes, costs: Estimate) -> Decision:
    fallback = Fallback(Reason.CHEAPER_IN_FULL, str(costs))
    return Decision("full", changes, fallback=fallback, explanation=str(costs))


def _change_of(engine: Engine, seen: Observation, key: str) -> SourceChange:
    source, known = seen.compiled.tables[key], seen.frontier.sources[key]
    if source.at == known.at:
        return SourceChange("none", known.version, source.version)
    check_mirror_is_there(source)
    format = format_of(source)
    change = format.change(source, known, engine.commits(source.name, known.version - 1))
    may_alter = seen.request.change_capture != "never_alter"
    if change.how == "diff" and not may_alter and not format.records_changes(source):
        raise NotIncremental(Reason.CHANGE_CAPTURE_OFF, f"{source.name} does not record its changes")
    return change


def _sizes(tables: Mapping[str, RelationFacts], state: RelationFacts, moved: Changes) -> Sizes:
    rows = {key: estimated_rows(facts) for key, facts in tables.items()}
    rows[STATE] = estimated_rows(state)
    changed = {
        key: rows[key] if change.how == "diff" and not change.rows else float(change.rows)
        for key, change in moved.items()
    }
    return Sizes(rows, changed)


def _too_large(source: RelationFacts, change: SourceChange) -> Fallback | None:
    # A small source may be a rewritten state, whose real changes are known only after consolidation.
    small = source.size_bytes is None or source.size_bytes <= SMALL_STATE_BYTES
    if small or change.whole_files or change.rows <= _SMALL_CHANGE_ROWS:
        return None
    share = change.rows / estimated_rows(source)
    if share <= _LARGE_SHARE:
        return None
    return Fallback(
        Reason.CHANGE_TOO_LARGE,
        f"{change.rows} rows of {source.name} changed, about {min(share, 1):.0%} of it, "
        f"limit {_LARGE_SHARE:.0%}",
    )
