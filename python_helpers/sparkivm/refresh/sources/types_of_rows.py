"""Types that cannot identify rows, or that a state cannot store. Each check raises NotIncremental."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from sparkivm.algebra import Aggregate, FullJoin, LeftJoin, Relation, Scan, SemiJoin, Window
from sparkivm.algebra.columns_read import columns_read
from sparkivm.engine import Engine, Field, RelationFacts
from sparkivm.errors import NotIncremental
from sparkivm.names import quoted
from sparkivm.plan.origin_types import unjoinable_type
from sparkivm.plan.state import GroupState, State
from sparkivm.plan.types_of import OriginTypes
from sparkivm.reasons import Reason

_GROUPS_BY_SESSION = re.compile(r"^\W*(?:Merging|Updating)Sessions\b", re.MULTILINE)


def check_comparable(fields: tuple[Field, ...]) -> None:
    """We delete rows by comparing them; Spark cannot compare every type."""
    for f in fields:
        if not f.spark_type.comparable:
            raise _unsupported(f"{f.name} has type {f.type}, which cannot be compared")


def check_groupable(engine: Engine, core: Relation, tables: Mapping[str, RelationFacts]) -> None:
    """Changes are consolidated by grouping by the columns that the view reads."""
    for table, names in columns_read(core, Scan).items():
        source = tables[table]
        read = [field for field in source.fields if field.name in names]
        for f in read:
            if not f.spark_type.comparable:
                raise _unsupported(f"{source.source}.{f.name} has type {f.type}, which cannot be compared")
        check_no_sessions(engine, source, read)


def check_no_sessions(engine: Engine, source: RelationFacts, fields: Iterable[Field]) -> None:
    """A column created by SESSION_WINDOW stays marked when it is stored. Spark groups by it as by sessions:
    rows whose spans touch are one group. So grouping by it does not distinguish rows.

    Only the plan of such a grouping shows this; we read it if a column looks like a span.
    """
    for field in fields:
        if not field.spark_type.is_span:
            continue
        grouped = f"explain select count(*) from {source.name.sql} group by {quoted(field.name)}"
        plan = "\n".join(str(value) for row in engine.query(grouped) for value in row.values())
        if _GROUPS_BY_SESSION.search(plan):
            raise _unsupported(
                f"{source.source}.{field.name} was created by SESSION_WINDOW, and Spark merges its spans "
                "in GROUP BY; store its start and end as separate columns"
            )


def check_inner_keys(core: Relation, types: OriginTypes, tables: Mapping[str, RelationFacts]) -> None:
    """Rows that gain or lose matches are found by the columns that ON reads, groups and partitions inside the
    query by their keys. Spark cannot find rows by maps.
    """
    for node in core.walk():
        do = ""
        if isinstance(node, Aggregate) and node is not core:
            what, names = "a subquery or DISTINCT groups by", node.keys
        elif isinstance(node, Window):
            what, names = "a window function is partitioned by", node.partition
        else:
            what, names = "ON reads", _found_by(node)
            do = "; compute the compared value in a subquery"
        for name in names:
            type_ = unjoinable_type(node, name, types)
            if type_ is not None:
                read = f"{_in_source(node, name, tables)} of type {type_}"
                raise _unsupported(f"{what} {read}, which Spark cannot join by{do}")


def _in_source(relation: Relation, name: str, tables: Mapping[str, RelationFacts]) -> str:
    """A column as messages name it: with its source if the query does not compute it."""
    scan, column = relation.origin(name)
    return f"{tables[scan.table].source}.{dict(scan.fields)[column]}" if isinstance(scan, Scan) else name


def _found_by(join: Relation) -> tuple[str, ...]:
    """The columns by which the rows of a join are found that gain or lose matches."""
    if not isinstance(join, (LeftJoin, SemiJoin, FullJoin)) or not join.on.residual:
        return ()
    counted = join.columns if isinstance(join, FullJoin) else join.left.columns
    return tuple(sorted(join.on.columns.intersection(counted)))


def check_keys(state: State, fields: tuple[Field, ...]) -> None:
    """Groups whose aggregates do not add up are joined by their keys; Spark cannot join by maps."""
    if isinstance(state, GroupState) and not state.linear:
        for key, f in zip(state.keys, fields, strict=False):
            if not f.spark_type.joinable:
                raise _unsupported(f"the group key {key} has type {f.type}, which Spark cannot join by")


def check_stored(columns: Sequence[Field]) -> None:
    """Delta cannot store intervals, not even in hidden columns."""
    for f in columns:
        if not f.spark_type.storable:
            raise _unsupported(f"the state cannot store {f.name}, which has type {f.type}")


def _unsupported(what: str) -> NotIncremental:
    return NotIncremental(Reason.TYPE_NOT_SUPPORTED, what)
