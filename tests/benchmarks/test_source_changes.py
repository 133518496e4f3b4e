"""The session in which the benchmarks change their sources."""

import pytest

from benchmarks.statements import StatementChanges

pytestmark = pytest.mark.spark


def test_temporary_views_are_not_sources(spark):
    spark.sql("create schema changed_sources")
    spark.sql("create table changed_sources.orders using delta as select 1 as id")
    changes = StatementChanges(spark, "changed_sources")
    changes.session.sql("create temporary view copies as select 1 as id")
    changes.forget_snapshots()
    assert changes.run("insert into changed_sources.orders select * from copies").inserted == 1
