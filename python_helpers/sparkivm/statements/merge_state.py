"""MERGE: the ON and the clauses for each kind of change."""

from __future__ import annotations

from dataclasses import dataclass

from sparkivm.algebra import HiddenColumn
from sparkivm.names import quoted
from sparkivm.plan.bag_changes import MATCH
from sparkivm.plan.state import BagState, GroupState, State
from sparkivm.plan.state_change import StateChange


@dataclass(frozen=True)
class MergeClauses:
    """The ON and the WHEN clauses of a MERGE into `t` from `s`."""

    on: str
    clauses: tuple[str, ...]


def merge_clauses(state: State, change: StateChange) -> MergeClauses:
    """The source has one row per key, so no row of the state is matched twice."""
    if isinstance(state, BagState):
        return _copies(state)
    on = " and ".join(f"t.{quoted(key)} <=> s.{quoted(key)}" for key in state.keys) or "true"
    return MergeClauses(on, _entries(state) if change.kind == "entries" else _groups(state))


def _entries(state: GroupState) -> tuple[str, ...]:
    """Add to the hidden columns; delete a group without rows."""
    count = quoted(state.columns[0].name)
    sums = ", ".join(f"t.{quoted(c.name)} = {_added_up(c)}" for c in state.columns)
    gone = (f"when matched and t.{count} + s.{count} = 0 then delete",) if state.keys else ()
    return (*gone, f"when matched then update set {sums}", _insert(state))


def _added_up(entry: HiddenColumn) -> str:
    one, other = (f"coalesce({row}.{quoted(entry.name)}, 0)" for row in "ts")
    return entry.additive.bounded.format(total=entry.additive.plus.format(one=one, other=other))


def _groups(state: GroupState) -> tuple[str, ...]:
    """Take the new values; delete a group without rows."""
    count = quoted(state.columns[0].name)
    taken = map(quoted, state.names[len(state.keys) :])
    values = ", ".join(f"t.{name} = s.{name}" for name in taken)
    gone = (f"when matched and coalesce(s.{count}, 0) = 0 then delete",) if state.keys else ()
    return (*gone, f"when matched then update set {values}", _insert(state, f"s.{count} > 0"))


def _insert(state: GroupState, condition: str = "") -> str:
    names = ", ".join(quoted(name) for name in state.names)
    values = ", ".join(f"s.{quoted(name)}" for name in state.names)
    return (
        f"when not matched{' and ' + condition if condition else ''} then insert ({names}) values ({values})"
    )


def _copies(state: BagState) -> MergeClauses:
    """Marked rows delete all copies of their value; the others never match and are inserted."""
    mark = f"s.{quoted(MATCH)}"
    equal = " and ".join(f"t.{quoted(name)} <=> s.{quoted(name)}" for name in state.values)
    names = ", ".join(quoted(name) for name in state.names)
    values = ", ".join(f"s.{quoted(name)}" for name in state.names)
    return MergeClauses(
        f"{mark} and {equal}",
        (
            "when matched then delete",
            f"when not matched and not {mark} then insert ({names}) values ({values})",
        ),
    )
