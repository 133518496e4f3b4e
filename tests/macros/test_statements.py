"""The statement macros, rendered without dbt."""

import re

import pytest

from tests.bare_macros import STATEMENTS, BareMacros

MACROS = BareMacros()


def test_rebuild_state_in_its_shortest_form():
    assert MACROS.render("rebuild_state", state="`s`.`v__ivm`", select="select 1 as a") == (
        "create or replace table `s`.`v__ivm`\nusing delta\nas\nselect 1 as a"
    )


def test_rebuild_state_with_every_clause():
    text = MACROS.render(
        "rebuild_state",
        state="`s`.`v__ivm`",
        select="select 1 as a",
        partition_by=["`a`", "`b`"],
        tblproperties={"k": "it's", "path": "C:\\x"},
        location="/data/v",
    )
    assert text == (
        "create or replace table `s`.`v__ivm`\n"
        "using delta\n"
        "location '/data/v'\n"
        "partitioned by (`a`, `b`)\n"
        "tblproperties (\n"
        "  'k' = 'it\\'s',\n"
        "  'path' = 'C:\\\\x'\n"
        ")\n"
        "as\n"
        "select 1 as a"
    )


def test_rebuild_state_clustered():
    text = MACROS.render("rebuild_state", state="t", select="select 1", liquid_clustered_by=["`a`"])
    assert "\ncluster by (`a`)\nas\n" in text


@pytest.mark.parametrize(
    ("macro", "verb"), [("append_state", "insert into"), ("rewrite_state", "insert overwrite")]
)
def test_insert(macro, verb):
    assert MACROS.render(macro, state="t", columns=["`a`", "`b`"], select="select 1, 2") == (
        f"{verb} t (`a`, `b`)\nselect 1, 2"
    )


def test_merge_state():
    clauses = ["when matched then delete", "when not matched then insert *"]
    assert MACROS.render(
        "merge_state", state="t1", source="select 1 as a -- end", on="t.a <=> s.a", clauses=clauses
    ) == (
        "merge into t1 as t\n"
        "using (\n"
        "select 1 as a -- end\n"
        ") as s\n"
        "on t.a <=> s.a\n"
        "when matched then delete\n"
        "when not matched then insert *"
    )


def test_public_view():
    text = MACROS.render(
        "public_view",
        view="v",
        select="select a, b from t",
        comment="the view's",
        column_comments={"a": "x'y", "b`": ""},
    )
    assert text == (
        "create or replace view v (\n  `a` comment 'x\\'y',\n  `b```\n)\n"
        "comment 'the view\\'s'\nas\nselect a, b from t"
    )
    assert (
        MACROS.render("public_view", view="v", select="select 1 as a")
        == "create or replace view v\nas\nselect 1 as a"
    )


def test_replace_in_state():
    assert MACROS.render("replace_in_state", state="t", predicate="`a` in (1, 2)", select="select 1") == (
        "insert into t replace where `a` in (1, 2)\nselect 1"
    )


def test_stage_changes():
    storage = "options ('storageLevel' 'MEMORY_AND_DISK') as\nselect 1 as a"
    assert MACROS.render("stage_changes", name="v", select="select 1 as a", later=False) == (
        f"cache table v {storage}"
    )
    assert MACROS.render("stage_changes", name="v", select="select 1 as a", later=True) == (
        f"cache lazy table v {storage}"
    )
    assert MACROS.render("drop_own_view", view="v") == "drop view if exists v"


def test_keep_in_memory():
    name = "global_temp.kept"
    assert MACROS.render("keep_in_memory", name=name, select="select 1 as a") == (
        "create global temporary view kept as\nselect 1 as a"
    )
    assert MACROS.render("cache_when_read", name=name) == (
        f"cache lazy table {name} options ('storageLevel' 'MEMORY_AND_DISK')"
    )


def test_stage_step():
    assert MACROS.render("stage_step", table="t", select="select 1 as a") == (
        "create table t using parquet\nas\nselect 1 as a"
    )
    assert MACROS.render("drop_own_table", table="t") == "drop table if exists t"
    assert MACROS.render("drop_own_table", table="t", purge=True) == "drop table if exists t purge"


def test_put_aside():
    properties = {"sparkivm.role": "put aside"}
    assert MACROS.render("mark_relation", kind="view", relation="v", tblproperties=properties) == (
        "alter view v set\ntblproperties (\n  'sparkivm.role' = 'put aside'\n)"
    )
    assert MACROS.render("unmark_relation", kind="table", relation="t", names=["a", "b"]) == (
        "alter table t unset tblproperties if exists ('a', 'b')"
    )
    assert MACROS.render("rename_relation_to", kind="table", relation="t", name="u") == (
        "alter table t rename to u"
    )


def test_short_statements():
    assert MACROS.render("enable_deletion_vectors", table="t") == (
        "alter table t set tblproperties (delta.enableDeletionVectors = true)"
    )
    assert MACROS.render("enable_change_capture", table="t") == (
        "alter table t set tblproperties (delta.enableChangeDataFeed = true)"
    )
    assert MACROS.render("tag_snapshot", table="t", tag="`a`", snapshot=7, minutes=60) == (
        "alter table t create or replace tag `a` as of version 7 retain 60 minutes"
    )
    assert MACROS.render("drop_tag", table="t", tag="`a`") == "alter table t drop tag if exists `a`"
    assert MACROS.render("refresh_source", source="p") == "refresh table p"


def test_each_file_holds_its_macro_and_public_ones_are_described():
    described = (STATEMENTS.parent / "_macros.yml").read_text()
    for path in STATEMENTS.glob("*.sql"):
        text = path.read_text()
        assert re.search(rf"{{% macro {path.stem}\(", text), path
        assert len(text.splitlines()) <= 40
        assert path.stem.startswith("_") or f"- name: {path.stem}\n" in described, path


def test_insert_seed_rows():
    text = MACROS.render("insert_seed_rows", table="t", types=["bigint", "varchar(3)"], rows=2, mark="%s")
    assert text == (
        "insert into t values\n"
        "(cast(%s as bigint), cast(%s as varchar(3))),\n"
        "(cast(%s as bigint), cast(%s as varchar(3)))"
    )
