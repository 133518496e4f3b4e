"""A query for the rows in which two bags differ: for the consistency test, and the changes of a refresh.

tested  tests/refresh/test_operations.py, test_changes.py
"""

from __future__ import annotations

from collections.abc import Iterable

from sparkivm.names import RESERVED_PREFIX, WEIGHT

MORE = f"{RESERVED_PREFIX}more"  # how often the first bag has a row more than the second; never 0


def bag_difference(shown: str, columns: str, sides: Iterable[str]) -> str:
    """The query.

    shown    SELECT items over the columns and MORE
    columns  of the bags, quoted
    sides    queries for the columns and WEIGHT: 1 in rows of the first bag, -1 in rows of the second
    """
    both = "\nunion all\n".join(sides)
    # Not WHERE or HAVING: Spark's optimizer fails for a filter over a UNION with a scalar subquery in
    # another filter (UnionBase.rewriteConstraints, Spark 4.1).
    return f"""\
select
  {shown}
from (
  select {columns}, sum({WEIGHT}) as {MORE}
  from (
{both}
  ) as both_sides
  group by {columns}
) as differences
lateral view explode(if({MORE} <> 0, array(1), array())) as {RESERVED_PREFIX}differs"""
