"""Mirrors of sources without history: created, compared once per run, changed by at most one commit."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from sparkivm.changes.source_declaration import DeclaredSources
from sparkivm.engine import RelationFacts
from sparkivm.errors import DeclarationError
from sparkivm.formats.delta_states import DeltaStates
from sparkivm.names import TableName
from sparkivm.reasons import Reason
from sparkivm.refresh.operations.status import view_status
from sparkivm.refresh.sources.pins import Pins
from sparkivm.refresh.sources.row_differences import apply_differences
from sparkivm.refresh.sources.sources import is_mirrored
from tests.refresh.lab import Lab, View, refused

BY_K = "select k, count(*) as n, sum(x) as s from p group by k"
MIRROR = "p__ivm_mirror"


@pytest.fixture
def lab() -> Lab:
    lab = Lab()
    lab.run("create table p (id int, k int, x int) using parquet")
    lab.run("insert into p values (1, 1, 1), (1, 1, 1), (2, null, null), (3, 2, 4)")
    return lab


@pytest.fixture
def view(lab: Lab) -> View:
    return lab.view("m", BY_K).build()


def declared(**meta: Any) -> DeclaredSources:
    return DeclaredSources("shop", {"shop.p": meta})


def operations(lab: Lab, name: str = MIRROR) -> list[str]:
    return [commit.operation for commit in lab.delta(name).history]


def mirrored(lab: Lab, name: str = MIRROR) -> bool:
    """Whether a mirror has its source's rows, including the number of copies."""
    return sorted(lab.rows("select * from p"), key=repr) == sorted(
        lab.rows(f"select * from {name}"), key=repr
    )


def test_a_mirror_is_made_and_announced(lab):
    (warning,) = lab.view("m", BY_K).must_be("create").warnings
    assert "shop.p keeps no history: shop.p__ivm_mirror mirrors it" in warning
    assert mirrored(lab)
    assert operations(lab) == ["CREATE OR REPLACE TABLE AS SELECT"]
    assert lab.properties(MIRROR)["sparkivm.role"] == "mirror"


def test_a_schema_that_is_missing_is_created(lab):
    """The project names the schema; dbt creates only those of models."""
    lab.engine.fails("create or replace table", "[SCHEMA_NOT_FOUND] The schema mirrors cannot be found.")
    view = lab.view("m", BY_K, declared=declared(mirror={"schema": "mirrors"}))
    assert "create schema if not exists `mirrors`" in view.must_be("create").statements
    lab.run("insert into p values (5, 5, 5)")
    view.must_be("incremental")


def test_a_catalog_that_cannot_replace_a_table_by_one_with_other_types(lab, view, monkeypatch):
    """A Hive metastore refuses to: then the mirror is dropped and made again."""
    monkeypatch.setattr(DeltaStates, "must_be_dropped", lambda self, error: "incompatible" in str(error))
    lab.run("drop table p", "create table p (id int, more string, k int, x int) using parquet")
    lab.run("insert into p values (1, 'a', 1, 1)")
    lab.engine.fails(f"create or replace table `shop`.`{MIRROR}`", "the types of columns are incompatible")
    result = view.refresh()
    view.check()
    assert mirrored(lab)
    assert f"drop table if exists `shop`.`{MIRROR}`" in result.statements
    lab.run("insert into p values (5, 'b', 1, 5)")
    view.must_be("incremental")


def test_what_is_unchanged_makes_no_commit(lab, view):
    assert view.must_be("no_op").explanation == "no source changed"
    assert operations(lab) == ["CREATE OR REPLACE TABLE AS SELECT"]


CHANGES = {
    "new rows": (("insert into p values (4, 3, 1)",), "WRITE"),
    "other values": (("insert overwrite p select id, k, x + 1 from p",), "MERGE"),
    "NULL for a value": (("insert overwrite p select id, if(k = 2, null, k), x from p",), "MERGE"),
    "a value for NULL": (("insert overwrite p select id, coalesce(k, 7), coalesce(x, 7) from p",), "MERGE"),
    "no row": (("insert overwrite p select * from p where id > 99",), "MERGE"),
}


OF_COPIES = {
    "a copy more": (("insert into p values (1, 1, 1)",), "WRITE"),
    "a copy less": (("insert overwrite p select distinct * from p",), "MERGE"),
    "more and less copies": (
        ("insert overwrite p select * from p where id > 1 union all select 3, 2, 4",),
        "MERGE",
    ),
}


@pytest.mark.parametrize(
    ("name", "key"), [*((name, "") for name in CHANGES | OF_COPIES), *((name, "id") for name in CHANGES)]
)
def test_a_mirror_follows_its_source(lab, name, key):
    if key:
        lab.run("insert overwrite p select distinct * from p")
    view = lab.view("m", BY_K, declared=declared(key=key) if key else DeclaredSources()).build()
    writes, operation = (CHANGES | OF_COPIES)[name]
    lab.run(*writes)
    result = view.must_be("incremental")
    assert mirrored(lab)
    assert operations(lab)[-1] == operation
    assert result.warnings == ()
    assert [(s.name, s.to_version) for s in result.sources] == [("shop.p", 1)]
    assert not any("differences" in name for name in lab.engine.session.temporary)


def test_one_mirror_for_all_views_of_a_run(lab, view):
    other = lab.view("other", "select id, x from p").build()
    lab.run("insert into p values (4, 3, 1)")
    pins = Pins()
    first, second = view.refresh(pins), other.refresh(pins)
    assert any("differences" in text for text in first.statements)
    assert not any("differences" in text for text in second.statements)
    assert len(operations(lab)) == 2
    for one in (view, other):
        one.check()


def test_a_declared_key_that_is_none(lab):
    """If two rows share a declared key, the mirror compares whole rows."""
    view = lab.view("m", BY_K, declared=declared(key=["id"])).build()
    lab.run("insert into p values (1, 1, 8)")
    result = view.must_be("incremental")
    assert any("several rows with one id" in text for text in result.warnings)
    assert mirrored(lab)


def test_columns_that_change(lab, view):
    lab.run(
        "drop table p",
        "create table p (id int, k int, x int, extra string) using parquet",
        "insert into p values (1, 1, 1, 'a')",
    )
    view.must_be("incremental")
    lab.run(
        "drop table p",
        "create table p (id int, k int, x bigint) using parquet",
        "insert into p values (1, 1, 1)",
    )
    view.must_be("full", Reason.SOURCE_SCHEMA_CHANGED)
    assert operations(lab) == ["CREATE OR REPLACE TABLE AS SELECT"] * 3


@pytest.mark.parametrize(
    "write",
    [
        "insert into p__ivm_mirror values (9, 9, 9)",
        "delete from p__ivm_mirror where id = 1",
        "update p__ivm_mirror set x = 0",
    ],
)
@pytest.mark.parametrize("changed", [False, True], ids=["", "and the source changed"])
def test_a_mirror_that_somebody_wrote_to(lab, view, write, changed):
    lab.run(write)
    if changed:
        lab.run("insert into p values (4, 3, 1)")
    view.refresh()
    view.check()
    assert mirrored(lab)
    view.must_be("no_op")
    assert len(operations(lab)) == 3


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_mirror_that_somebody_writes_to_meanwhile(lab, view, when):
    lab.run("insert into p values (4, 3, 1)")
    happens = lab.engine.before if when == "before" else lab.engine.after
    happens("insert into `shop`.`p__ivm_mirror`", lambda: lab.run(f"delete from {MIRROR} where id = 3"))
    view.refresh()
    view.check()
    assert mirrored(lab)


def test_a_source_that_is_written_to_while_it_is_compared(lab, view):
    """The view shows what was compared; the next run applies the rest."""
    lab.run("insert into p values (4, 3, 1)")
    lab.engine.after("cache table __ivm_differences", lambda: lab.run("insert into p values (5, 3, 1)"))
    view.refresh()
    assert view.differences()
    view.must_be("incremental")


def test_two_drivers_that_bring_it_up_to_date(lab, view):
    lab.run("insert into p values (4, 3, 1)")
    rival = view.on(lab.another())
    lab.engine.before("insert into `shop`.`p__ivm_mirror`", lambda: rival.must_be("incremental"))
    view.must_be("no_op")
    assert mirrored(lab)
    assert len(operations(lab)) == 2


def test_a_mirror_that_somebody_creates_again_meanwhile(lab, view, monkeypatch):
    """Its version is lower then. Nobody has compared its rows."""
    created = []

    def then_created(*arguments):
        applied = apply_differences(*arguments)
        if not created:
            created.append(applied)
            marker = ", ".join(f"'{name}' = '{value}'" for name, value in lab.properties(MIRROR).items())
            lab.run(
                f"drop table {MIRROR}",
                f"create table {MIRROR} using delta tblproperties ({marker}) as select * from p where id = 1",
            )
        return applied

    lab.run("insert into p values (4, 3, 1)")
    monkeypatch.setattr("sparkivm.refresh.sources.mirror.apply_differences", then_created)
    view.refresh()
    view.check()
    assert mirrored(lab)


def test_an_answer_that_is_lost(lab, view):
    lab.run("insert into p values (4, 3, 1)")
    lab.engine.fails("insert into `shop`.`p__ivm_mirror`", "[CONNECTION_LOST] no answer", when="after")
    view.refresh()
    view.check()
    assert mirrored(lab)


def test_a_mirror_whose_files_are_lost_is_made_again(lab, view):
    lab.delta(MIRROR).change(0, has_files=False)
    lab.run("insert into p values (4, 3, 1)")
    result = view.refresh()
    view.check()
    assert any("p__ivm_mirror" in text and "could not be updated" in text for text in result.warnings)


def test_a_table_of_somebody_by_the_name_of_the_mirror(lab):
    lab.run(f"create table {MIRROR} using delta as select 1 as x")
    assert "the name of its mirror, is taken by another relation" in refused(lab.view("m", BY_K))
    assert lab.rows(f"select * from {MIRROR}") == [(1,)]
    assert not lab.has("m__ivm")


def test_files_of_somebody_where_the_mirror_would_be(lab):
    lab.run(f"create table theirs using delta location '/data/{MIRROR}' as select 1 as x")
    error = refused(lab.view("m", BY_K, declared=declared(mirror={"location": "/data"})))
    assert f"/data/{MIRROR}, where its mirror would be stored, holds another table" in error
    assert lab.rows("select * from theirs") == [(1,)]
    assert not lab.has(MIRROR)


def test_a_key_that_is_not_a_column(lab):
    error = refused(lab.view("m", BY_K, declared=declared(key=["ID", "number"])))
    assert "the key number is not a column" in error
    assert "it has id, k, x" in error


def test_a_mirror_of_another_name_and_retention(lab):
    meta = declared(mirror={"name": "copy", "retention": "60 days"})
    lab.view("m", BY_K, declared=meta).build()
    assert lab.properties("copy")["delta.logRetentionDuration"] == "interval 60 days"
    assert not lab.has(MIRROR)


def test_a_source_that_cannot_be_compared_is_read_in_full(lab):
    lab.run("create table q (m map<string, int>) using parquet")
    lab.view("m", "select m from q").must_be("create", Reason.TYPE_NOT_SUPPORTED)
    assert not any("mirror" in name for name in lab.names())


def test_a_view_of_files_is_mirrored(lab):
    lab.lake.relations["parquet./data/p"] = lab.lake.relations["shop.p"]
    lab.run("create view f as select * from parquet.`/data/p`")
    view = lab.view("m", "select k, sum(x) as s from f group by k").build()
    assert lab.has("f__ivm_mirror")
    lab.run("insert into p values (4, 3, 1)")
    lab.lake.relations["parquet./data/p"] = lab.lake.relations["shop.p"]
    view.must_be("incremental")


def test_a_temporary_view_of_files_has_no_mirror(lab):
    """It belongs to a session, in which other models may not run."""
    facts = RelationFacts(
        TableName("global_temp", "f"), "view", (), view_text="select * from parquet.`/data/p`"
    )
    assert is_mirrored(facts, declared())
    assert not is_mirrored(replace(facts, temporary=True), declared())


def test_a_delta_table_is_mirrored_where_it_is_wanted(lab):
    lab.table("t", "k int, x int", "(1, 1)")
    meta = DeclaredSources("shop", {"shop.t": {"mirror": True}})
    view = lab.view("m", "select k, sum(x) as s from t group by k", declared=meta).build()
    lab.run("insert into t values (2, 2)")
    view.must_be("incremental")
    assert lab.has("t__ivm_mirror")


# operations


def test_capture_makes_and_updates_a_mirror(lab):
    said = lab.capture("p").splitlines()
    assert ["keeps no history" in said[0], said[1:]] == [
        True,
        ["shop.p is mirrored by shop.p__ivm_mirror, version 0"],
    ]
    lab.run("insert into p values (4, 3, 1)")
    assert "version 1" in lab.capture("p")
    meta = declared(mirror={"retention": "9 days"})
    lab.capture("p", meta)
    assert lab.properties(MIRROR)["delta.deletedFileRetentionDuration"] == "interval 9 days"
    assert mirrored(lab)


def test_remove_drops_a_mirror_and_nothing_else(lab, view):
    assert "is dropped" in lab.capture("p", remove=True)
    assert lab.names() == ["m", "m__ivm", "p"]
    assert "has no mirror" in lab.capture("p", remove=True)
    view.must_be("full", Reason.SOURCE_REPLACED)


def test_remove_leaves_a_table_of_somebody(lab):
    lab.run(f"create table {MIRROR} using delta as select 1 as x")
    with pytest.raises(DeclarationError, match="is taken by another relation"):
        lab.capture("p", remove=True)
    assert lab.rows(f"select * from {MIRROR}") == [(1,)]


def test_explain_and_status_of_a_view_whose_mirror_was_removed(lab, view):
    lab.capture("p", remove=True)
    assert "SOURCE_REPLACED: the mirror of shop.p was removed" in view.explain()
    found = view_status(lab.engine, view.request, Pins(), now_ms=0)
    assert (found.condition, found.problem) == (
        "rebuild",
        "SOURCE_REPLACED: the mirror of shop.p was removed",
    )
    view.must_be("full", Reason.SOURCE_REPLACED)


def test_the_consistency_test_leaves_the_mirror_as_it_is(lab, view):
    lab.run("insert into p values (4, 3, 1)")
    lab.engine.ran.clear()
    assert lab.rows(view.consistency_sql()) == []
    assert lab.engine.ran == []


def test_explain_looks_at_the_mirror_as_it_is(lab, view):
    lab.run("insert into p values (4, 3, 1)")
    text = view.explain()
    assert "read through its mirror shop.p__ivm_mirror, which the next run first compares with it" in text
    assert operations(lab) == ["CREATE OR REPLACE TABLE AS SELECT"]


def test_a_full_view_over_a_star_reads_rows_that_its_mirror_does_not_have_yet(lab):
    """Its text has no pinned version. If the source gets its former rows again, the mirror does not change."""
    lab.run("create view v as select * from p")
    view = lab.view("m", "select id, x from v")
    lab.engine.fails(f"create or replace table `shop`.`{view.state}`", "[INTERNAL_ERROR] in the plan")
    pins = Pins()
    lab.view("other", BY_K).refresh(pins)
    lab.run("insert into p values (9, 9, 9)")
    view.refresh(pins)
    assert (9, 9) in lab.rows("select * from m")
    lab.run("delete from p where id = 9")
    assert view.refresh().mode == "full"
    view.check()
