"""Columns of spans: Spark is asked whether it groups by them as by sessions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from sparkivm.changes.source_declaration import SourceDeclaration
from sparkivm.engine import Field, RelationFacts
from sparkivm.errors import NotIncremental
from sparkivm.formats.delta_states import DELTA_STATES
from sparkivm.names import TableName
from sparkivm.refresh.sources.mirror import Mirror
from sparkivm.refresh.sources.types_of_rows import check_no_sessions

SPAN = Field("w", "struct<start:timestamp,end:timestamp>")
FIELDS = (Field("id", "int"), SPAN, Field("pair", "struct<start:int,end:int>"))
SOURCE = RelationFacts(TableName("s", "t"), "delta", FIELDS)


class Spark:
    """Answers each question with one plan."""

    def __init__(self, plan: str) -> None:
        self.plan, self.asked = plan, list[str]()

    def query(self, sql: str) -> Sequence[dict[str, Any]]:
        self.asked.append(sql)
        return [{"plan": self.plan}]


@pytest.mark.parametrize("operator", ["MergingSessions", "UpdatingSessions"])
def test_a_span_that_spark_merges_is_refused(operator):
    spark: Any = Spark(f"== Physical Plan ==\n+- {operator} [w]\n   +- Scan")
    with pytest.raises(NotIncremental, match=r"s\.t\.w was created by SESSION_WINDOW"):
        check_no_sessions(spark, SOURCE, FIELDS)


def test_spark_is_asked_about_spans_only():
    spark: Any = Spark("== Physical Plan ==\n+- HashAggregate [w]\n   +- Scan of MergingSessions")
    check_no_sessions(spark, SOURCE, FIELDS)
    assert spark.asked == ["explain select count(*) from `s`.`t` group by `w`"]


def test_a_mirror_of_such_a_span_is_refused():
    """Its rows are compared by grouping them."""
    spark: Any = Spark("== Physical Plan ==\n+- MergingSessions [w]\n   +- Scan")
    mirror = Mirror(spark, "p", SOURCE, TableName("s", "t__ivm_mirror"), SourceDeclaration(), DELTA_STATES)
    with pytest.raises(NotIncremental, match=r"s\.t\.w was created by SESSION_WINDOW"):
        mirror.check_new(FIELDS)
