"""To drop a view with everything that is stored for it."""

from __future__ import annotations

from collections.abc import MutableSequence
from itertools import count

from sparkivm.engine import Engine
from sparkivm.errors import ModelError
from sparkivm.names import TableName, auxiliary_view, state_table
from sparkivm.refresh.stored_state import is_a_state


def drop_incremental_view(engine: Engine, view: TableName) -> str:
    """Drop a view, its state, and the views that it keeps of inner aggregates.

    What has its name by now and does not read its state, as after a change of materialization, stays.

    Returns: what was dropped, for the console.
    Raises: ModelError if there is no state, so that it is no view of ours.
    """
    state = engine.describe(state_table(view))
    if state is None or state.kind != "delta" or not is_a_state(engine, state):
        raise ModelError(str(view), f"there is no {state_table(view)}, its state", "check the name")
    statements: list[str] = []
    drop_auxiliaries(engine, view, 1, statements)
    drop_view_and_state(engine, view, statements)
    return "\n".join(statements)


def drop_auxiliaries(engine: Engine, view: TableName, first: int, statements: MutableSequence[str]) -> None:
    """Drop a view's auxiliary views from this number on, as far as there are any."""
    for number in count(first):
        if not drop_view_and_state(engine, auxiliary_view(view, number), statements):
            return


def drop_view_and_state(engine: Engine, view: TableName, statements: MutableSequence[str]) -> bool:
    """Drop a public view and its state; whether there was one of them."""
    dropped = False
    state = state_table(view)
    for name, kind, says, macro, argument in (
        (view, "view", state.sql, "drop_own_view", "view"),
        (state, "delta", "", "drop_own_table", "table"),
    ):
        facts = engine.describe(name)
        if facts is not None and facts.kind == kind and says.lower() in facts.view_text.lower():
            statements.append(engine.render(macro, **{argument: name.sql}))
            engine.execute(statements[-1])
            dropped = True
    return dropped
