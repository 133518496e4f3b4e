"""The changes of joins that several views of a run read: which joins, and how the run keeps their changes.

tested  tests/refresh/test_shared_joins.py
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from sparkivm.algebra import Changes, Scan
from sparkivm.algebra.columns_read import columns_read
from sparkivm.changes.frontier import Frontier
from sparkivm.errors import ModelError, NotIncremental
from sparkivm.formats.refresh_texts import PinnedTable, RefreshTexts
from sparkivm.frontend.parse import not_too_deep, parse_model
from sparkivm.frontend.query import read_query
from sparkivm.frontend.scope import NameAllocator
from sparkivm.names import TableName, name_of
from sparkivm.normalize.pipeline import normalize
from sparkivm.plan.join_order import RowEstimate, Sizes
from sparkivm.plan.shared_joins import SharedJoin, column_of, shared_joins
from sparkivm.plan.state import BagState
from sparkivm.plan.state_change import StateChange, core_change
from sparkivm.plan.steps import in_steps, step_names
from sparkivm.properties.inlined_size import leaves_when_inlined
from sparkivm.refresh.changed_rows.key_ranges import find_key_ranges
from sparkivm.refresh.changed_rows.questions import ChangedSources
from sparkivm.refresh.changed_rows.run_memory import MOST_VALUES, KeptQuery
from sparkivm.refresh.request import RefreshRequest
from sparkivm.refresh.sources.source_catalog import SourceCatalog
from sparkivm.refresh.sources.sources import Sources


def find_shared_joins(sources: Sources, request: RefreshRequest, frontier: Frontier) -> None:
    """Let the run know the joins in plain views that this view reads, and others too."""
    for view in request.shared_relations & frontier.views.keys():
        sources.memory.share(view, partial(_joins_of, sources, request, name_of(view)))


def _joins_of(sources: Sources, request: RefreshRequest, view: TableName) -> tuple[SharedJoin, ...]:
    facts = sources.known(view)
    if facts is None or facts.kind != "view":
        return ()
    catalog = SourceCatalog(sources, request.view, request.state, {})
    try:
        with not_too_deep():
            tree = parse_model(view, f"select * from {view.sql}")
            query = read_query(tree, catalog, names=NameAllocator())
            rows = normalize(query.root, query.root.columns)
    except (NotIncremental, ModelError):
        return ()  # the views that read it report why
    return tuple(join for join in shared_joins(rows) if _may_be_kept(join, catalog))


def _may_be_kept(join: SharedJoin, catalog: SourceCatalog) -> bool:
    fields = ((key, field) for key in join.tables for field in catalog.tables[key].fields)
    types = {column_of(key, field.name): field.spark_type for key, field in fields}
    return all(types[name].cacheable and types[name].joinable for name in join.columns)


def keep_changes(join: SharedJoin, sources: ChangedSources, sizes: Sizes) -> str:
    """The relation with the changes of a join in memory; "" if the run does not keep them."""

    def query() -> KeptQuery | None:
        changed = frozenset(key for key in join.tables if sources.changes[key].how != "none")
        rows = join.changes(core_change(BagState(join.relation, ()), changed, sizes))
        if RowEstimate(sizes)(rows) * len(rows.columns) > MOST_VALUES:
            return None  # each view computes them, in the columns that it needs
        # The view may read fewer columns than the join has.
        read = columns_read(join.relation, Scan)
        asked = replace(sources, read=read)
        ranges, changes = find_key_ranges(asked, join.relation, StateChange("append", rows, "copies"))
        for leaf, uses in leaves_when_inlined(rows):
            if isinstance(leaf, Changes):
                table = leaf.table
                changes[table] = sources.memory.changes(table, changes[table], uses, read[table])
        parts = ranges.parts(rows)
        kept = frozenset(key for key, change in changes.items() if change.kept)
        if in_steps(rows, step_names(), kept=kept, sizes=sizes.within(parts)).tables:
            return None
        where = {key: part.condition.sql("spark") for key, part in parts.items()}
        tables = {
            key: PinnedTable(sources.tables[key], changes[key], where.get(key, "")) for key in join.tables
        }
        return rows, RefreshTexts(tables)

    return sources.memory.join_changes(join, sources.changes, query)
