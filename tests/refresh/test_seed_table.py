"""Tables of seeds: kept from run to run, changed where the file's rows differ, and left alone if they are known."""

from __future__ import annotations

import hashlib

import pytest

from sparkivm.engine import EngineError
from sparkivm.errors import SeedError
from sparkivm.marker import owner_of
from sparkivm.names import TableName
from sparkivm.reasons import Reason
from sparkivm.refresh.operations.leftovers import leftovers
from sparkivm.refresh.operations.seed_table import SeedFile, SeedRecord, SeedTable
from tests.refresh.lab import SCHEMA, Lab

NAME = TableName(SCHEMA, "s")
THREE = ("(1, 'a')", "(2, 'b')", "(2, 'b')")
OTHERS = ("(1, 'a')", "(2, 'c')", "(2, 'b')", "(3, null)")
BY_NAME = "select name, count(*) as n from s group by name"


class Seed:
    """A seed of dbt, whose file the test writes."""

    def __init__(self, lab: Lab) -> None:
        self.lab = lab
        self.loads = 0
        self.between = ""  # what somebody else does after dbt created the table

    def table(self, rows: tuple[str, ...], layout: str = "id int, name string") -> SeedTable:
        digest = hashlib.sha256(repr(rows).encode()).hexdigest()
        columns = tuple(word.split()[0] for word in layout.split(", "))
        file = SeedFile(columns, hashlib.sha256(layout.encode()).hexdigest(), digest)
        return SeedTable.of(self.lab.engine, NAME, file, owner_of("lab", "seed.lab.s", NAME))

    def run(self, *rows: str, layout: str = "id int, name string", format: str = "delta") -> str:
        """What a run of dbt does. Returns: `created`, `same`, or the numbers of values that changed."""
        table = self.table(rows, layout)
        if not table.stays():
            self.lab.run("drop table if exists s", f"create table s ({layout}) using {format}")
            if rows:
                self.lab.run(f"insert into s values {', '.join(rows)}")
            if self.between:
                self.lab.run(self.between)
            table.remember(inserts=1 if rows else 0)
            return "created"
        loads = self.loads
        applied = table.follow(lambda name: self._load(name, rows))
        assert applied is not None
        if self.loads == loads:
            return "same"
        return f"+{applied.came} -{applied.gone}"

    def _load(self, table: TableName, rows: tuple[str, ...]) -> None:
        self.loads += 1
        if rows:
            self.lab.run(f"insert into {table} values {', '.join(rows)}")

    def holds(self, *rows: str) -> bool:
        expected = self.lab.rows(f"select * from (values {', '.join(rows)}) as t(id, name)") if rows else []
        return sorted(self.lab.rows("select * from s"), key=repr) == sorted(expected, key=repr)


@pytest.fixture
def lab() -> Lab:
    return Lab()


@pytest.fixture
def seed(lab) -> Seed:
    seed = Seed(lab)
    assert seed.run(*THREE) == "created"
    return seed


def test_what_somebody_wrote_while_it_was_created_is_overwritten(lab):
    """The table had more commits than dbt's statements."""
    seed = Seed(lab)
    seed.between = "insert into s values (9, 'between')"
    assert seed.run(*THREE) == "created"
    assert seed.run(*THREE) == "+0 -1"
    assert seed.holds(*THREE)


def test_an_empty_file(lab):
    seed = Seed(lab)
    assert [seed.run(), seed.run(), seed.run(*THREE), seed.run()] == ["created", "same", "+3 -0", "+0 -3"]


def test_an_unchanged_file_makes_no_commit(lab, seed):
    version = lab.version("s")
    assert seed.run(*THREE) == "same"
    assert lab.version("s") == version
    assert lab.names() == ["s"]


@pytest.mark.parametrize(
    ("rows", "changes", "operation"),
    [
        (OTHERS, "+2 -1", "MERGE"),
        ((*THREE, "(4, 'd')"), "+1 -0", "WRITE"),
        (THREE[:2], "+0 -1", "MERGE"),
        ((), "+0 -3", "MERGE"),
    ],
)
def test_a_changed_file_changes_the_rows_that_differ(lab, seed, rows, changes, operation):
    view = lab.view("v", BY_NAME).build()
    assert seed.run(*rows) == changes
    assert seed.holds(*rows)
    assert [commit.operation for commit in lab.delta("s").history][-2:] == [operation, "SET TBLPROPERTIES"]
    assert seed.run(*rows) == "same"
    view.must_be("incremental")


def test_an_unchanged_file_changes_no_view(lab, seed):
    view = lab.view("v", BY_NAME).build()
    assert seed.run(*THREE) == "same"
    view.must_be("no_op")


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("spark.sql.session.timeZone", "Europe/Berlin"),
        ("spark.sql.ansi.enabled", "true"),
        ("spark.sql.storeAssignmentPolicy", "legacy"),
        ("spark.sql.legacy.timeParserPolicy", "legacy"),
        ("spark.sql.timestampType", "TIMESTAMP_NTZ"),
        ("spark.sql.parser.escapedStringLiterals", "true"),
    ],
)
def test_a_session_that_reads_the_file_otherwise_loads_it_again(lab, seed, setting, value):
    lab.engine.set({setting: value})
    applied = seed.table(THREE).follow(lambda name: seed._load(name, OTHERS))
    assert applied is not None
    assert (applied.came, applied.gone) == (2, 1)
    assert seed.holds(*OTHERS)
    assert seed.run(*THREE) == "same"


@pytest.mark.parametrize(
    "write",
    [
        "insert into s values (7, 'mine')",
        "delete from s where id = 1",
        "update s set name = 'mine' where id = 1",
        "insert overwrite s select * from s where id = 1",
        "merge into s using (select 1 as id) as u on s.id = u.id when matched then delete",
    ],
)
def test_what_somebody_wrote_is_overwritten(lab, seed, write):
    lab.run(write)
    assert seed.run(*THREE) != "same"
    assert seed.holds(*THREE)
    assert seed.run(*THREE) == "same"


def test_what_somebody_wrote_is_overwritten_also_if_they_restore_the_properties(lab, seed):
    """A record of another version of the table is not believed."""
    record = lab.properties("s")["sparkivm.seed"]
    lab.run("delete from s where id = 1", f"alter table s set tblproperties ('sparkivm.seed' = '{record}')")
    assert seed.run(*THREE) == "+1 -0"
    assert seed.holds(*THREE)


def test_upkeep_is_no_change(lab, seed):
    lab.run("optimize s", "alter table s set tblproperties ('of' = 'mine')")
    assert seed.run(*THREE) == "same"


def test_a_log_that_was_cleaned_up(lab, seed):
    lab.run("optimize s")
    lab.forget_commits("s", *range(lab.version("s")))
    assert [seed.run(*THREE), seed.run(*THREE)] == ["+0 -0", "same"]


@pytest.mark.parametrize(
    "alter",
    [
        "alter table s add columns (extra int)",
        "alter table s rename column name to title",
        "create or replace table s using delta as select 1 as id, 'a' as name",
        "drop table s",
    ],
)
def test_a_table_that_was_altered_or_replaced_is_left_to_dbt(lab, seed, alter):
    lab.run("alter table s set tblproperties ('delta.columnMapping.mode' = 'name')", alter)
    assert seed.run(*THREE) == "created"
    assert seed.holds(*THREE)


def test_other_columns_are_left_to_dbt(lab, seed):
    view = lab.view("v", BY_NAME).build()
    assert seed.run("(1, 'a', 1)", layout="id int, name string, extra int") == "created"
    view.must_be("full", Reason.SOURCE_REPLACED)


def test_a_table_that_dbt_made_before_the_plugin_is_left_to_dbt(lab):
    lab.table("s", "id int, name string", "(1, 'a')", clauses="")
    assert Seed(lab).run(*THREE) == "created"


def test_a_format_without_versions_is_left_to_dbt(lab):
    seed = Seed(lab)
    assert [seed.run(*THREE, format="parquet") for _ in range(2)] == ["created", "created"]
    assert "sparkivm.seed" not in lab.lake.relations[NAME.key].properties


def test_a_column_that_cannot_be_compared_is_left_to_dbt(lab):
    layout = "id int, name map<string,int>"
    assert [Seed(lab).run(layout=layout) for _ in range(2)] == ["created", "created"]


def test_a_zero_with_another_sign_is_another_value(lab):
    seed, layout = Seed(lab), "id int, name double"
    assert seed.run("(1, 0e0)", layout=layout) == "created"
    assert seed.run("(1, -0e0)", layout=layout) == "+1 -1"


def test_a_writer_between_comparison_and_commit_is_an_error(lab, seed):
    lab.engine.before("merge into `shop`.`s`", lambda: lab.run("insert into s values (7, 'mine')"))
    with pytest.raises(SeedError, match="run it again"):
        seed.run(*OTHERS)
    assert seed.run(*OTHERS) != "same"
    assert seed.holds(*OTHERS)


def test_a_pre_hook_that_replaces_the_table_is_an_error(lab, seed):
    table = seed.table(THREE)
    assert table.stays()
    lab.run("drop table s", "create table s (id int, name string) using delta")
    with pytest.raises(SeedError, match="pre_hook"):
        table.follow(lambda name: None)


def test_a_table_that_a_pre_hook_drops_is_left_to_dbt(lab, seed):
    table = seed.table(THREE)
    assert table.stays()
    lab.run("drop table s")
    assert table.follow(lambda name: None) is None
    assert lab.names() == []


def test_rows_that_cannot_be_loaded_change_nothing(lab, seed):
    version = lab.version("s")

    def fails(table: TableName) -> None:
        raise EngineError("[CAST_INVALID_INPUT] 'x'")

    with pytest.raises(EngineError):
        seed.table(OTHERS).follow(fails)
    assert lab.version("s") == version
    assert lab.names() == ["s"]


def test_the_rows_of_a_killed_run_are_a_leftover(lab, seed, monkeypatch):
    lab.engine.fails("drop table if exists `shop`.`s__ivm_step_", "[CONNECTION_LOST] no answer")
    seed.run(*OTHERS)
    assert any("s__ivm_step_" in name for name in lab.names())
    monkeypatch.setattr("sparkivm.refresh.stored.staging._LEFT_OVER_S", -1)
    (found,) = leftovers(lab.engine, "lab", [TableName(SCHEMA, "")], {}, [])
    assert "left by an interrupted refresh" in str(found)


@pytest.mark.parametrize("text", ["", "a b", "a b c d e", "a b c 1 d e"])
def test_a_record_that_is_not_ours_is_none(lab, seed, text):
    lab.run(f"alter table s set tblproperties ('sparkivm.seed' = '{text}')")
    assert SeedRecord.of(lab.engine.describe(NAME)) is None
    assert not seed.table(THREE).stays()
