"""The fake engine refuses, skips and records what Delta does; tests/spark/test_fake_engine.py compares the two."""

from __future__ import annotations

import pytest

from sparkivm.engine import EngineError
from sparkivm.names import TableName
from tests.fake_engine.engine import FakeEngine, Killed
from tests.fake_engine.lake import Lake

T = TableName("s", "t")
FEED = "tblproperties (delta.enableChangeDataFeed = true)"
APPLICATION, NUMBER = "spark.databricks.delta.write.txnAppId", "spark.databricks.delta.write.txnVersion"
METADATA = "spark.databricks.delta.commitInfo.userMetadata"


@pytest.fixture
def engine() -> FakeEngine:
    engine = FakeEngine(Lake(), "s")
    engine.execute(f"create table t (k int, x int) using delta {FEED}")
    engine.execute("insert into t values (1, 1), (2, 2)")
    return engine


def rows(engine: FakeEngine, sql: str = "select * from t order by k, x") -> list[tuple[object, ...]]:
    return [tuple(row.values()) for row in engine.query(sql)]


def fails(engine: FakeEngine, sql: str) -> str:
    """The class of the error with which a query or statement ends."""
    with pytest.raises(EngineError) as found:
        engine.execute(sql)
    return found.value.condition


WRITES = (
    "insert into t values (3, 3)", "insert overwrite t values (3, 3)", "insert into t replace where k = 1 values (1, 9)",
    "delete from t where k = 1", "update t set x = 9",
    "merge into t using (select 1 as k) s on t.k = s.k when matched then delete",
    "create or replace table t using delta as select 7 as k, 7 as x",
)  # fmt: skip


@pytest.mark.parametrize("write", WRITES)
def test_a_number_that_is_not_above_the_last_one_is_skipped(engine, write):
    engine.set({APPLICATION: "a", NUMBER: "4"})
    engine.execute(write)
    version, before = engine.lake.delta(T).newest.number, rows(engine)
    assert version == 2
    for number in ("3", "4"):
        engine.set({NUMBER: number})
        engine.execute("insert into t values (8, 8)")
        engine.execute(write)
    assert (engine.lake.delta(T).newest.number, rows(engine)) == (version, before)
    engine.set({NUMBER: "5"})
    engine.execute("insert into t values (8, 8)")
    engine.set({APPLICATION: "b", NUMBER: "0"})
    engine.execute("insert into t values (8, 8)")
    assert engine.lake.delta(T).newest.number == version + 2


def test_the_metadata_of_the_session_are_in_its_commits(engine):
    engine.set({METADATA: "mine"})
    engine.execute("alter table t set tblproperties (a = 'b')")
    engine.unset([METADATA])
    engine.execute("optimize t")
    assert [commit.user_metadata for commit in engine.commits(T, 0)] == [None, "mine", None]


def test_versions_are_read_as_they_were(engine):
    engine.execute("delete from t where k = 1")
    assert rows(engine, "select k from t version as of 1 order by k") == [(1,), (2,)]
    assert fails(engine, "select * from t version as of 9") == "DELTA_VERSION_NOT_FOUND"
    engine.execute("vacuum t retain 0 hours")
    assert fails(engine, "select * from t version as of 1") == "FAILED_READ_FILE"


def test_a_feed_is_refused_where_it_was_off(engine):
    engine.execute("alter table t set tblproperties (delta.enableChangeDataFeed = false)")
    engine.execute("insert into t values (3, 3)")
    engine.execute("alter table t set tblproperties (delta.enableChangeDataFeed = true)")
    assert fails(engine, "select * from table_changes('t', 1, 4)") == "DELTA_MISSING_CHANGE_DATA"
    assert rows(engine, "select * from table_changes('t', 4, 4)") == []


def test_a_feed_leaves_out_what_the_log_lacks(engine):
    engine.execute("insert into t values (3, 3)")
    engine.execute("insert into t values (4, 4)")
    engine.lake.delta(T).change(2, in_log=False)
    assert rows(engine, "select k from table_changes('`s`.`t`', 2, 3)") == [(4,)]
    assert [commit.version for commit in engine.commits(T, 0)] == [1, 3]


def test_a_replaced_table_is_another_one_in_the_same_log(engine):
    before = engine.describe(T)
    engine.execute("create or replace table t using delta as select 1 as k")
    after = engine.describe(T)
    assert before is not None
    assert after is not None
    assert (after.version, after.table_id != before.table_id) == (2, True)
    assert dict(after.properties) == {}


@pytest.mark.parametrize(
    ("statement", "condition"),
    [
        ("select * from nothing", "TABLE_OR_VIEW_NOT_FOUND"),
        ("drop table nothing", "TABLE_OR_VIEW_NOT_FOUND"),
        ("create table t (k int) using delta", "TABLE_OR_VIEW_ALREADY_EXISTS"),
        ("create or replace view t as select 1 as k", "TABLE_OR_VIEW_ALREADY_EXISTS"),
        ("insert into t replace where k = 1 values (2, 2)", "DELTA_REPLACE_WHERE_MISMATCH"),
        ("merge into t using (select explode(array(1, 1)) as k) s on t.k = s.k when matched then update set x = 0",
         "DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE"),
        ("create table b using delta as select 1 as `a b`", "DELTA_INVALID_CHARACTERS_IN_COLUMN_NAMES"),
        (f"create table b using delta {FEED[:-1]}, delta.columnMapping.mode = 'name') as select 1 as `a b`",
         "DELTA_BLOCK_COLUMN_MAPPING_AND_CDC_OPERATION"),
    ],
)  # fmt: skip
def test_what_is_refused_changes_nothing(engine, statement, condition):
    assert fails(engine, statement) == condition
    assert rows(engine) == [(1, 1), (2, 2)]
    assert list(engine.lake.relations) == ["s.t"]


def test_a_fork_does_not_see_what_is_done(engine):
    other = FakeEngine(engine.lake.fork(), "s")
    engine.execute("delete from t")
    assert rows(other) == [(1, 1), (2, 2)]
    other.execute("drop table t")
    assert rows(engine) == []


def test_a_driver_that_is_killed_does_nothing_more(engine):
    engine.is_killed("insert", "after")
    with pytest.raises(Killed):
        engine.execute("insert into t values (3, 3)")
    for act in (
        lambda: engine.execute("delete from t"),
        lambda: engine.describe(T),
        lambda: engine.unset([]),
    ):
        with pytest.raises(Killed):
            act()
    assert len(rows(FakeEngine(engine.lake, "s"))) == 3


def test_a_statement_that_fails_before_is_not_done_and_after_it_is(engine):
    engine.fails("insert", "[GONE] x")
    engine.fails("delete", "[LOST] x", when="after")
    assert fails(engine, "insert into t values (3, 3)") == "GONE"
    assert fails(engine, "delete from t where k = 1") == "LOST"
    assert rows(engine) == [(2, 2)]
