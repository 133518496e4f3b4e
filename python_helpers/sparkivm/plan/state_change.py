"""The delta of a view, and the form in which it reaches the state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sparkivm.algebra import Derivation, Relation
from sparkivm.normalize.prune_empty import prune_empty
from sparkivm.plan import bag_changes, group_changes
from sparkivm.plan.join_order import Sizes, order_joins
from sparkivm.plan.state import GroupState, State

Form = Literal["append", "rewrite", "merge"]


@dataclass(frozen=True)
class StateChange:
    """What one applying statement is made of.

    append   `rows` are inserted
    rewrite  `rows` are the whole new content
    merge    `rows` are matched with the state by `keys`; see `kind`
    """

    form: Form
    rows: Relation
    kind: Literal["entries", "groups", "copies"]


def state_change(state: State, form: Form, changed: frozenset[str], sizes: Sizes) -> StateChange:
    """The change of `state` while the tables in `changed` change; `sizes` only decide the join order."""
    d = Derivation(changed)
    if not isinstance(state, GroupState):
        rows = {
            "append": lambda: bag_changes.appended(state, d),
            "rewrite": lambda: bag_changes.replaced(state, d),
            "merge": lambda: bag_changes.merged(state, d).rows,
        }[form]()
        return StateChange(form, order_joins(prune_empty(rows), sizes), "copies")
    if state.linear:
        entries = group_changes.entries(state, d)
        rows = group_changes.folded(state, entries) if form == "rewrite" else entries
        return StateChange(form, order_joins(prune_empty(rows), sizes), "entries")
    change = group_changes.changed_groups(state, d)
    rows = group_changes.replaced(state, change) if form == "rewrite" else change.rows
    return StateChange(form, order_joins(prune_empty(rows), sizes), "groups")
