"""Whether the state of an edited query can be made from the state that is there, without its sources.

tested  tests/refresh/test_edited_queries.py
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sparkivm.algebra import Relation
from sparkivm.changes.state_columns import as_stored
from sparkivm.formats import format_of
from sparkivm.plan.state_evolution import from_stored_columns
from sparkivm.reasons import Fallback, Reason
from sparkivm.refresh.observation import Observation
from sparkivm.spark.data_types import spark_type

_OF_EDITS = (Reason.QUERY_CHANGED, Reason.SOURCE_SCHEMA_CHANGED)


@dataclass(frozen=True)
class Evolution:
    """The next state of an edited query, as of the sources' versions in the frontier.

    seen     with the sources at these versions
    added    columns of the state that are new
    content  of the new state, over the stored one; None if the stored rows stay
    """

    seen: Observation
    added: tuple[str, ...]
    content: Relation | None

    @property
    def label(self) -> str:
        if self.content is None:
            return "keep the stored rows; only the public view changes"
        return f"compute {', '.join(self.added)} from the stored columns"


def evolution(seen: Observation, why: Fallback) -> Evolution | None:
    """The evolution for a view that would be rebuilt; None if it has to be."""
    frontier, compiled, stored = seen.stored.frontier, seen.compiled, seen.request.format.stored
    plan = compiled.plan
    if why.reason not in _OF_EDITS or frontier is None or plan is None or compiled.decided is not None:
        return None
    if seen.request.stamp_columns:  # what was stamped is not what the new query says
        return None
    if tuple(compiled.auxiliaries) != frontier.auxiliaries or not _reads_the_same(seen):
        return None
    types = {name: type_ for name, type_, _ in as_stored(compiled.columns, stored)}
    known = {name: type_ for name, type_, _ in frontier.columns}
    if any(not type_ or types.get(name) != type_ for name, type_ in known.items()):
        return None
    kept = [name for name in plan.state.names if name in known]
    if compiled.content_hash(kept, frontier.clones) != frontier.content:
        return None
    added = tuple(name for name in plan.state.names if name not in known)
    keeps = seen.request.format.keeps
    usable = [name for name, type_, _ in compiled.columns if name in known and keeps(spark_type(type_))]
    content = from_stored_columns(plan, kept, usable) if added else None
    if added and content is None:
        return None
    tables = {
        key: format_of(facts).at(facts, frontier.sources[key]) if key in frontier.sources else facts
        for key, facts in compiled.tables.items()
    }
    moments = {key: frontier.moments[key] for key in plan.moments}
    before = replace(seen, compiled=replace(compiled, tables=tables), moments=moments)
    return Evolution(before, added, content)


def _reads_the_same(seen: Observation) -> bool:
    """Whether the plan reads the columns of the sources that the state was computed from."""
    frontier, plan = seen.frontier, seen.plan
    if not (plan.moments <= frontier.moments.keys() and seen.compiled.behind <= frontier.sources.keys()):
        return False
    read = seen.compiled.fields_read
    return all(
        (known := frontier.sources.get(key)) is not None
        and known.table_id == seen.compiled.tables[key].table_id
        and dict(known.fields) == read[key]
        for key in plan.tables
    )
