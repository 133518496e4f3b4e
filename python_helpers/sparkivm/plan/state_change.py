"""The delta of a view, and the form in which it reaches the state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sparkivm.algebra import Derivation, Keys, Relation, Scan
from sparkivm.normalize.prune_empty import prune_empty
from sparkivm.plan import bag_changes, group_changes
from sparkivm.plan.distinct_values import distinct_values
from sparkivm.plan.join_order import RowEstimate, Sizes, order_joins
from sparkivm.plan.narrowed_joins import NarrowedJoins
from sparkivm.plan.shared_reads import share_reads
from sparkivm.plan.state import STAGED, GroupState, State

Form = Literal["append", "rewrite", "replace", "merge", "recompute"]
Kind = Literal["entries", "groups", "copies"]


@dataclass(frozen=True)
class StateChange:
    """What one applying statement is made of.

    append     `rows` are inserted
    rewrite    `rows` are the whole new content, from the old one and the changes
    replace    `rows` are the new content of a part of the state: where one column has a staged value
    merge      `rows` are matched with the state by `keys`; see `kind`
    recompute  `rows` are the whole new content, from the sources alone

    `staged`, if there, is computed before the statement, and stands in `rows` as the table STAGED.
    """

    form: Form
    rows: Relation
    kind: Kind
    staged: Relation | None = None

    @property
    def is_whole(self) -> bool:
        """Whether `rows` take the place of all that the state holds."""
        return self.form in ("rewrite", "recompute")

    @property
    def parts(self) -> tuple[Relation, ...]:
        """What is computed, in its order."""
        return (self.rows,) if self.staged is None else (self.staged, self.rows)


def state_change(
    state: State, form: Form, changed: frozenset[str], sizes: Sizes, part: str = ""
) -> StateChange:
    """The change of `state` while the tables in `changed` change.

    sizes  only decide the cost
    part   for `replace`: a column of the state; any one is right
    """
    narrowing = NarrowedJoins(sizes, distinct_values(state.core, sizes.rows))
    changes = _changes(state, Derivation(changed, narrowing))
    kind = _kind(state)
    if not _staged(form, kind):
        return StateChange(form, _cheap(_rows(state, form, changes), sizes), kind)
    return staged_change(state, form, _cheap(changes, sizes), sizes, part)


def staged_change(state: State, form: Form, staged: Relation, sizes: Sizes, part: str = "") -> StateChange:
    """The change in a form that reads what is computed beforehand; the view is not differentiated again.

    staged  as that of a StateChange of the same state
    """
    table = Scan(STAGED, tuple((name, name) for name in staged.columns))
    sizes = Sizes({**sizes.rows, STAGED: RowEstimate(sizes)(staged)}, sizes.changed)
    keys = Keys.of(table, ((part, part),)) if form == "replace" else None
    rows = _cheap(_rows(state, form, table, keys), sizes)
    return StateChange(form, rows, _kind(state), staged)


def recomputed(state: State, content: Relation) -> StateChange:
    """The change to a content that is computed from the sources as they are now."""
    return StateChange("recompute", content, _kind(state))


def _cheap(relation: Relation, sizes: Sizes) -> Relation:
    """The same relation: its joins in order, tables and changes read as seldom as can be."""
    ordered = order_joins(prune_empty(relation), sizes)
    return share_reads(ordered, RowEstimate(sizes))


def _kind(state: State) -> Kind:
    if not isinstance(state, GroupState):
        return "copies"
    return "entries" if state.linear else "groups"


def _staged(form: Form, kind: Kind) -> bool:
    """Whether the changes are read more than once: a change feed is slow to plan, and to read again."""
    return form == "replace" or kind == "groups"


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
