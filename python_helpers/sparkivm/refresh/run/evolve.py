"""Makes the state of an edited query from the state that is there, at the versions that this one reflects.

An ordinary refresh follows.

tested  tests/refresh/test_edited_queries.py, test_killed_refreshes.py
"""

from __future__ import annotations

from dataclasses import replace

from sparkivm.changes.frontier import Outcome
from sparkivm.names import quoted
from sparkivm.reasons import Reason
from sparkivm.refresh.decide.evolution import Evolution
from sparkivm.refresh.run.attempt import Attempt
from sparkivm.refresh.run.rebuild import replace_state
from sparkivm.spark_sql.relations import select_text


def evolve(attempt: Attempt, evolution: Evolution) -> None:
    """Commit the frontier of the edited query, with the new columns if there are any.

    Raises: EngineError, with the state unchanged; Conflict.
    """
    seen = evolution.seen
    stored, old = seen.stored, seen.stored.frontier
    assert stored.facts is not None and old is not None
    frontier = replace(
        attempt.frontier(seen, old),
        timing=attempt.timing(seen, "", 0),
        outcome=Outcome("edited", reason=Reason.QUERY_CHANGED.name, detail=evolution.label),
    )
    if evolution.content is not None:
        select = select_text(evolution.content, attempt.texts(seen))
        replace_state(attempt, stored, frontier, select, seen.compiled)
        return
    frontier = replace(
        frontier, base=stored.version, several=old.several, appended=old.appended, columns=old.columns
    )
    columns = [quoted(field.name) for field in stored.facts.fields]
    write = attempt.format.unchanged(attempt.state, columns, {"sparkivm.query": frontier.text})
    attempt.commit(stored, frontier, write)
