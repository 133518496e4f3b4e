"""Stamps: constants of a run that are stored with each row, to say which refresh last changed the row.

law     Let V₀ be the stored rows with their stamps, R₁ the query's new rows without stamps, and s the stamps
        of this refresh. Of the n₁ copies of a row in R₁, min(n₀, n₁) have the oldest stamps of its n₀ copies
        in V₀; the others have s. In a view with GROUP BY, a row is its group: it keeps its stamp if its other
        public columns are what they were. A rebuild stamps every row.
tested  tests/laws/test_stamps_law.py, tests/refresh/test_stamps.py
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from sparkivm.algebra import Project, Relation, Scalar
from sparkivm.algebra.query import Query
from sparkivm.algebra.scalar import column
from sparkivm.engine import Field
from sparkivm.names import RESERVED_PREFIX
from sparkivm.plan.run_constants import is_run_constant
from sparkivm.plan.split import Split


@dataclass(frozen=True)
class Stamp:
    """A column of the state, and its value in rows that this refresh inserts or changes."""

    name: str
    value: Scalar


class CannotStamp(Exception):
    """Why a column cannot be a stamp of a view, in a sentence; and what to do."""

    def __init__(self, what: str, do: str) -> None:
        super().__init__(what)
        self.what, self.do = what, do


def with_stamps(
    halves: Split, query: Query, fields: Sequence[Field], wanted: Collection[str]
) -> tuple[Split, tuple[Stamp, ...]]:
    """The halves of a query that read some of its constants from the state, and these.

    wanted  public columns
    Raises: CannotStamp.
    """
    if not wanted:
        return halves, ()
    _check(halves, fields, wanted)
    output, stamps, columns = list(halves.output), list[Stamp](), dict[str, Scalar]()
    for index, field in enumerate(fields):
        if field.name.lower() not in map(str.lower, wanted):
            continue
        if not is_run_constant(output[index]):
            raise CannotStamp(
                f"{field.name} of stamp_columns is not the same literal in each row",
                "make it a literal of the outermost SELECT, such as '{{ run_started_at }}', without DISTINCT "
                "and UNION, and name it neither in GROUP BY nor in partition_by or liquid_clustered_by",
            )
        stamp = Stamp(f"{RESERVED_PREFIX}stamp_{len(stamps) + 1}", output[index])
        stamps.append(stamp)
        output[index] = columns[query.output[index]] = column(stamp.name)
    sort = tuple((columns.get(key.column, scalar), key) for scalar, key in halves.sort)
    return replace(halves, output=tuple(output), sort=sort), tuple(stamps)


def _check(halves: Split, fields: Sequence[Field], wanted: Collection[str]) -> None:
    public = {field.name.lower(): field for field in fields}
    for name in wanted:
        if name.lower() not in public:
            raise CannotStamp(
                f"{name} of stamp_columns is not a column",
                f"the columns are {', '.join(f.name for f in fields)}",
            )
    if not halves.takes_all or halves.windows is not None:
        raise CannotStamp(
            "stamp_columns cannot be combined with LIMIT or a window over all groups: they are computed when "
            "the view is read, so a refresh does not know which rows change",
            "apply LIMIT and the window in a model of its own, which reads this one",
        )
    for field in fields:
        if not field.spark_type.joinable:
            raise CannotStamp(
                f"stamp_columns is set, but Spark does not compare {field.name}, which is {field.type}",
                "leave the column out, or convert it",
            )


def stamped(rows: Relation, stamps: Sequence[Stamp]) -> Relation:
    """Rows with the stamps of this refresh."""
    if not stamps:
        return rows
    items = [(name, column(name)) for name in rows.columns]
    return Project(rows, (*items, *((stamp.name, stamp.value) for stamp in stamps)))
