"""The delta of a view, and the form in which it is applied to the state."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Literal

from sparkivm.algebra import Derivation, Keys, Relation, Scan
from sparkivm.normalize.pipeline import Pass, Trace, traced
from sparkivm.normalize.prune_empty import prune_empty
from sparkivm.plan import bag_changes, group_changes
from sparkivm.plan.distinct_values import distinct_values
from sparkivm.plan.join_order import RowEstimate, Sizes, order_joins
from sparkivm.plan.map_columns import keep_map_order
from sparkivm.plan.narrowed_joins import NarrowedJoins
from sparkivm.plan.shared_reads import share_reads
from sparkivm.plan.state import STAGED, BagState, GroupState, State

Form = Literal["append", "rewrite", "replace", "merge", "recompute"]
Kind = Literal["entries", "groups", "copies"]


@dataclass(frozen=True)
class StateChange:
    """The content of one applying statement.

    append     `rows` are inserted
    rewrite    `rows` are the whole new content, computed from the old content and the changes
    replace    `rows` are the new content of a part of the state: where one column has a staged value
    merge      `rows` are matched with the state by `keys`; see `kind`
    recompute  `rows` are the whole new content, computed only from the sources

    `staged`, if not None, is computed before the statement, and `rows` read it as the table STAGED.

    traces  for each of `parts` that was derived: its delta, and the relation after each pass
    """

    form: Form
    rows: Relation
    kind: Kind
    staged: Relation | None = None
    traces: tuple[Trace, ...] = ()

    @property
    def is_whole(self) -> bool:
        """Whether `rows` replace the whole state."""
        return self.form in ("rewrite", "recompute")

    @property
    def parts(self) -> tuple[Relation, ...]:
        """The relations to compute, in order."""
        return (self.rows,) if self.staged is None else (self.staged, self.rows)


def state_change(
    state: State, form: Form, changed: frozenset[str], sizes: Sizes, part: str = ""
) -> StateChange:
    """The change of `state` while the tables in `changed` change.

    sizes  affect only the cost
    part   for `replace`: a column of the state; any column is correct
    """
    narrowing = NarrowedJoins(sizes, distinct_values(state.core, sizes.rows))
    changes = _changes(state, Derivation(changed, narrowing))
    kind = _kind(state)
    if not _staged(state, form, kind):
        rows = _finished(_rows(state, form, changes), state, sizes)
        return StateChange(form, rows[-1].relation, kind, traces=(rows,))
    staged = _finished(changes, state, sizes)
    return staged_change(state, form, staged, sizes, part)


def staged_change(state: State, form: Form, staged: Trace, sizes: Sizes, part: str = "") -> StateChange:
    """The change in a form that reads staged changes; the view is not differentiated again.

    staged  the first trace of a staged change of the same state
    """
    changes = staged[-1].relation
    table = Scan(STAGED, tuple((name, name) for name in changes.columns))
    sizes = Sizes({**sizes.rows, STAGED: RowEstimate(sizes)(changes)}, sizes.changed)
    keys = Keys.of(table, ((part, part),)) if form == "replace" else None
    rows = _finished(_rows(state, form, table, keys), state, sizes)
    return StateChange(form, rows[-1].relation, _kind(state), changes, (staged, rows))


def core_change(state: BagState, changed: frozenset[str], sizes: Sizes) -> Relation:
    """The delta of a core, in the core's columns."""
    narrowing = NarrowedJoins(sizes, distinct_values(state.core, sizes.rows))
    delta = Derivation(changed, narrowing).delta(state.core)
    return _finished(delta, state, sizes)[-1].relation


def recomputed(state: State, content: Relation) -> StateChange:
    """The change to a content that is computed from the sources as they are now."""
    return StateChange("recompute", content, _kind(state))


def _finished(delta: Relation, state: State, sizes: Sizes) -> Trace:
    """The same relation with ordered joins, few reads of tables and changes, and maps kept in order."""
    stored_as = dict(state.columns) if isinstance(state, BagState) else {}
    passes: tuple[Pass, ...] = (
        ("prune_empty", prune_empty),
        ("order_joins", partial(order_joins, sizes=sizes)),
        ("share_reads", partial(share_reads, estimate=RowEstimate(sizes))),
        ("map_order", partial(keep_map_order, types=state.maps, stored_as=stored_as)),
    )
    return traced("delta", delta, passes)


def _kind(state: State) -> Kind:
    if not isinstance(state, GroupState):
        return "copies"
    return "entries" if state.linear else "groups"


def _staged(state: State, form: Form, kind: Kind) -> bool:
    """Whether the changes are read more than once: a change feed is slow to plan and to read again."""
    return form == "replace" or kind == "groups" or (bool(state.stamps) and form != "append")


def _changes(state: State, d: Derivation) -> Relation:
    if not isinstance(state, GroupState):
        return bag_changes.changes(state, d)
    if state.linear:
        return group_changes.entries(state, d)
    if state.recomputed and state.keys:
        return group_changes.touched_groups(state, d)
    return group_changes.arguments(state, d)


def _rows(state: State, form: Form, changes: Relation, part: Keys | None = None) -> Relation:
    if not isinstance(state, GroupState):
        match form:
            case "append":
                return bag_changes.appended(state, changes)
            case "merge":
                return bag_changes.merged(state, changes)
        return bag_changes.replaced(state, changes, part)
    if state.linear:
        return changes if form in ("append", "merge") else group_changes.folded(state, changes, part=part)
    change = group_changes.changed_groups(state, changes)
    return change.rows if form == "merge" else group_changes.replaced(state, change, part)
