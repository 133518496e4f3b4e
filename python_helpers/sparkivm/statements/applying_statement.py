"""The one statement that changes a state."""

from __future__ import annotations

from sparkivm.formats.state_format import Write
from sparkivm.names import TableName, quoted
from sparkivm.plan.state import State
from sparkivm.plan.state_change import StateChange
from sparkivm.statements.merge_state import merge_clauses


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
            merge = merge_clauses(state, change)
            return Write(
                "merge_state",
                {"state": table.sql, "source": select, "on": merge.on, "clauses": list(merge.clauses)},
            )
