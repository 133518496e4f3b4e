"""Types that cannot identify rows, or that a state cannot hold. Each check raises NotIncremental for one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from sparkivm.algebra import FullJoin, LeftJoin, Relation, Scan, SemiJoin
from sparkivm.algebra.columns_read import columns_read
from sparkivm.engine import Engine, Field, RelationFacts
from sparkivm.errors import NotIncremental
from sparkivm.names import quoted
from sparkivm.plan.state import GroupState, State
from sparkivm.reasons import Fallback, Reason

_GROUPS_BY_SESSION = re.compile(r"^\W*(?:Merging|Updating)Sessions\b", re.MULTILINE)


def check_comparable(fields: tuple[Field, ...]) -> None:
    """Rows are taken away by comparing them, which Spark does not do for every type."""
    for f in fields:
        if not f.spark_type.comparable:
            raise _unsupported(f"{f.name} is {f.type}, which cannot be compared")


def check_groupable(engine: Engine, core: Relation, tables: Mapping[str, RelationFacts]) -> None:
    """Changes are netted by grouping rows by the columns that the view reads."""
    for table, names in columns_read(core, Scan).items():
        source = tables[table]
        read = [field for field in source.fields if field.name in names]
        for f in read:
            if not f.spark_type.comparable:
                raise _unsupported(f"{source.source}.{f.name} is {f.type}, which cannot be compared")
        check_no_sessions(engine, source, read)


def check_no_sessions(engine: Engine, source: RelationFacts, fields: Iterable[Field]) -> None:
    """A column made by SESSION_WINDOW tells so wherever it is stored, and Spark groups by it as by sessions:
    rows whose spans touch are one group. So to group by it does not tell rows apart.

    Only the plan of such a grouping shows it, and is asked for if a column looks like a span.
    """
    for field in fields:
        if not field.spark_type.is_span:
            continue
        grouped = f"explain select count(*) from {source.name.sql} group by {quoted(field.name)}"
        plan = "\n".join(str(value) for row in engine.query(grouped) for value in row.values())
        if _GROUPS_BY_SESSION.search(plan):
            raise _unsupported(
                f"{source.source}.{field.name} was made by SESSION_WINDOW, and Spark joins such spans where "
                "it groups; store its start and end as columns of their own"
            )


def check_joined(core: Relation, tables: Mapping[str, RelationFacts]) -> None:
    """Rows that matches come or go for are found by the columns that ON reads of them: not so by maps."""
    for join in core.walk():
        if not isinstance(join, (LeftJoin, SemiJoin, FullJoin)) or not join.on.residual:
            continue
        counted = join.columns if isinstance(join, FullJoin) else join.left.columns
        for name in sorted(join.on.columns.intersection(counted)):
            scan, column = join.origin(name)
            source = tables.get(scan.table) if isinstance(scan, Scan) else None
            if source is None or not isinstance(scan, Scan):
                continue
            field = next(f for f in source.fields if f.name == dict(scan.fields)[column])
            if not field.spark_type.joinable:
                what = f"{source.source}.{field.name}, which ON reads, is {field.type}"
                raise _unsupported(f"{what}; compute what it compares in a subquery below")


def check_keys(state: State, fields: tuple[Field, ...]) -> None:
    """Groups whose aggregates do not add up are found by their keys, which Spark does not do for maps."""
    if isinstance(state, GroupState) and not state.linear:
        for key, f in zip(state.keys, fields, strict=False):
            if not f.spark_type.joinable:
                raise _unsupported(f"the group key {key} is {f.type}")


def check_stored(columns: Sequence[Field]) -> None:
    """Delta has no intervals, also not in hidden columns."""
    for f in columns:
        if not f.spark_type.storable:
            raise _unsupported(f"{f.name}, which the state would have to store, is {f.type}")


def _unsupported(what: str) -> NotIncremental:
    return NotIncremental(Fallback(Reason.TYPE_NOT_SUPPORTED, what))
