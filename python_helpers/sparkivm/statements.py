"""The one statement that changes a state, and the clauses of its MERGE."""

from __future__ import annotations

from sparkivm.algebra import HiddenColumn
from sparkivm.formats.state_format import Write
from sparkivm.names import TableName, quoted
from sparkivm.plan.bag_changes import MATCH
from sparkivm.plan.state import BagState, GroupState, State
from sparkivm.plan.state_change import StateChange


def applying_statement(
    table: TableName, state: State, change: StateChange, select: str, predicate: str
) -> Write:
    """The statement for the change's form.

    select     the rows of the change
    predicate  selects the part that is replaced
    """
    columns = [quoted(name) for name in state.names]
    match change.form:
        case "append":
            return Write("append_state", {"state": table.sql, "columns": columns, "select": select})
        case "rewrite" | "recompute":
            return Write("rewrite_state", {"state": table.sql, "columns": columns, "select": select})
        case "replace":
            return Write("replace_in_state", {"state": table.sql, "predicate": predicate, "select": select})
        case "merge":
            on, clauses = merge_clauses(state, change)
            arguments = {"state": table.sql, "source": select, "on": on, "clauses": clauses}
            return Write("merge_state", arguments)


def merge_clauses(state: State, change: StateChange) -> tuple[str, list[str]]:
    """The ON and the WHEN clauses of a MERGE into `t` from `s`.

    The source has one row per key, so no row of the state is matched twice.
    """
    if isinstance(state, BagState):
        return _copies(state)
    on = " and ".join(f"t.{quoted(key)} <=> s.{quoted(key)}" for key in state.keys) or "true"
    return on, _entries(state) if change.kind == "entries" else _groups(state)


def _entries(state: GroupState) -> list[str]:
    """Add to the hidden columns; delete a group without rows."""
    count = quoted(state.columns[0].name)
    sums = ", ".join(f"t.{quoted(c.name)} = {_added_up(c)}" for c in state.columns)
    gone = [f"when matched and t.{count} + s.{count} = 0 then delete"] if state.keys else []
    return [*gone, f"when matched then update set {sums}", _insert(state)]


def _added_up(entry: HiddenColumn) -> str:
    one, other = (f"coalesce({row}.{quoted(entry.name)}, 0)" for row in "ts")
    return entry.additive.bounded.format(total=entry.additive.plus.format(one=one, other=other))


def _groups(state: GroupState) -> list[str]:
    """Take the new values; delete a group without rows."""
    count = quoted(state.columns[0].name)
    taken = map(quoted, state.names[len(state.keys) :])
    values = ", ".join(f"t.{name} = s.{name}" for name in taken)
    gone = [f"when matched and coalesce(s.{count}, 0) = 0 then delete"] if state.keys else []
    return [*gone, f"when matched then update set {values}", _insert(state, f"s.{count} > 0")]


def _insert(state: State, condition: str = "") -> str:
    names = ", ".join(quoted(name) for name in state.names)
    values = ", ".join(f"s.{quoted(name)}" for name in state.names)
    return (
        f"when not matched{' and ' + condition if condition else ''} then insert ({names}) values ({values})"
    )


def _copies(state: BagState) -> tuple[str, list[str]]:
    """Marked rows delete all copies of their value; the others never match and are inserted."""
    mark = f"s.{quoted(MATCH)}"
    equal = " and ".join(f"t.{quoted(name)} <=> s.{quoted(name)}" for name in state.values)
    return f"{mark} and {equal}", ["when matched then delete", _insert(state, f"not {mark}")]
