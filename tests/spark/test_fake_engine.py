"""The fake engine (tests/fake_engine) behaves as Delta: the same statements give the same rows, commits and feeds."""

from __future__ import annotations

from typing import Any

import pytest

from tests.refresh.lab import Lab as FakeLab
from tests.spark.lab import Lab

pytestmark = pytest.mark.spark

# The commit metrics that a refresh uses.
METRICS = (
    "numOutputRows", "numDeletedRows", "numUpdatedRows", "numTargetRowsInserted", "numTargetRowsUpdated", "numTargetRowsDeleted",
)  # fmt: skip
FEED = "tblproperties (delta.enableChangeDataFeed = true, delta.columnMapping.mode = 'name', delta.enableDeletionVectors = true)"
STATEMENTS = (
    "insert into t values (1, 1, 'a'), (2, 1, 'b'), (3, 2, null), (3, 2, null)",
    "insert into t (id, k) select 4, 3",
    "update t set k = k + 1, name = 'u' where id <= 2",
    "update t set k = 9 where id = 99",
    "delete from t where id = 1",
    "delete from t where id = 99",
    "merge into t using (select 2 as i union all select 7) s on t.id = s.i when matched then update set k = 0 "
    "when not matched then insert (id, k, name) values (s.i, 7, 'm')",
    "merge into t using (select 7 as i) s on t.id = s.i when matched then delete",
    "merge into t using (select 5 as i) s on t.id = s.i when not matched then insert (id) values (s.i)",
    "insert into t replace where k = 2 select 8, 2, 'r'",
    "insert into t replace where k = 77 select 8, 77, 'n'",
    "optimize t",
    "alter table t set tblproperties (mine = 'x')",
    "alter table t add columns (extra int)",
    "insert into t values (9, 9, 'z', 1)",
    "alter table t rename column extra to more",
    "alter table t drop column more",
    "insert overwrite t values (1, 1, 'o'), (2, 2, 'o')",
    "restore table t to version as of 5",
    "comment on table t is 'a table'",
    "truncate table t",
    "create or replace table t using delta tblproperties (delta.enableChangeDataFeed = true) as select 1 as id, 2 as k, 'c' as name",
)
TRANSACTION = {
    "spark.databricks.delta.write.txnAppId": "someone",
    "spark.databricks.delta.write.txnVersion": "3",
}
METADATA = "spark.databricks.delta.commitInfo.userMetadata"


@pytest.fixture(scope="module")
def labs(spark):
    real, fake = Lab(spark, "shop"), FakeLab()
    for lab in (real, fake):
        lab.run(f"create table t (id int, k int, name string) using delta {FEED}")
    yield real, fake
    real.run("drop schema shop cascade")


def rows(lab: Any, sql: str) -> list[tuple[Any, ...]]:
    return sorted((tuple(row) for row in lab.rows(sql)), key=repr)


def commits(lab: Any, after: int) -> list[tuple[Any, ...]]:
    from sparkivm.names import TableName

    found = lab.engine.commits(TableName("shop", "t"), after)
    return [
        (
            c.version,
            c.operation,
            {m: c.metrics.get(m) for m in METRICS if c.metrics.get(m)},
            _mode(c),
            c.user_metadata,
        )
        for c in found
    ]


def _mode(commit: Any) -> tuple[str, bool]:
    parameters = commit.parameters
    return parameters.get("mode", "").strip('"'), parameters.get(
        "predicate", "[]"
    ) != "[]" and commit.operation == "WRITE"


def test_the_same_statements_leave_the_same(labs):
    real, fake = labs
    for number, statement in enumerate(STATEMENTS):
        before = real.version("t")
        assert fake.version("t") == before, STATEMENTS[number - 1]
        for lab in labs:
            lab.run(statement)
        assert rows(fake, "select id, k, name from t") == rows(real, "select id, k, name from t"), statement
        found, wanted = commits(fake, before), commits(real, before)
        for mine, theirs in zip(found, wanted, strict=True):
            # For some commits Delta reports more metrics than the fake.
            assert mine[:2] == theirs[:2], statement
            assert {m: theirs[2].get(m) for m in mine[2]} == mine[2], (statement, mine, theirs)
            assert mine[3:] == theirs[3:], statement
        if wanted and statement.startswith(("insert", "update", "delete", "merge", "truncate")):
            feed = f"select id, k, name, replace(_change_type, 'update_p', 'p') as c from table_changes('shop.t', {before + 1}, {before + 1})"
            assert net(rows(fake, feed)) == net(rows(real, feed)), statement


def net(changes: list[tuple[Any, ...]]) -> list[tuple[int, str]]:
    """Each row with the change in its number of copies."""
    total: dict[str, int] = {}
    for *row, change in changes:
        total[repr(row)] = total.get(repr(row), 0) + (1 if change in ("insert", "postimage") else -1)
    return sorted((count, row) for row, count in total.items() if count)


def test_a_transaction_that_was_done_is_skipped(labs):
    writes = (
        "insert into t values (5, 5, 'x')", "update t set k = 4", "delete from t where id = 5", "insert overwrite t values (6, 6, 'y')",
        "merge into t using (select 6 as i) s on t.id = s.i when matched then delete",
        "create or replace table t using delta as select 1 as id, 2 as k, 'c' as name",
    )  # fmt: skip
    for lab in labs:
        lab.engine.set({**TRANSACTION, METADATA: "mine"})
    for write in (writes[0], *writes):
        for lab in labs:
            lab.engine.execute(write)
    real, fake = labs
    before = real.version("t")
    assert fake.version("t") == before
    assert commits(fake, before - 1)[-1][4] == commits(real, before - 1)[-1][4] == "mine"
    for lab in labs:
        lab.engine.unset([*TRANSACTION, METADATA])
        lab.engine.execute("insert into t values (5, 5, 'x')")
    assert fake.version("t") == real.version("t") == before + 1
    assert rows(fake, "select * from t") == rows(real, "select * from t")
