"""The SELECT that replaces a change log: DuckDB computes it, and a replay of the log checks it."""

import random

import duckdb
import pytest
import sqlglot

from sparkivm.changes.change_log import current_rows, unknown_operations
from sparkivm.changes.source_declaration import read_declaration

FLAT = {
    "key": ["a", "b"],
    "change_log": {"format": "columns", "order": ["at", "seq"], "columns": ["a", "b", "x"]},
}
DELTA = {"key": ["id"], "change_log": "delta"}
DEBEZIUM = {"key": ["id"], "change_log": {"format": "debezium", "order": ["ts_ms", "source.lsn"]}}


def result(meta, columns, sql, *tables):
    log = read_declaration("s", meta).log
    with duckdb.connect() as connection:
        for table in tables:
            connection.execute(table)
        text = current_rows(log, "log", columns) if sql is None else sql(log, "log")
        return sorted(connection.execute(sqlglot.transpile(text, "spark", "duckdb")[0]).fetchall(), key=repr)


@pytest.mark.parametrize("seed", range(5))
def test_flat_log_against_its_replay(seed):
    rng = random.Random(seed)
    table, entries = {}, []
    for seq in range(60):
        key = (rng.randrange(4), rng.choice("pq"))
        operation, x = rng.choice("cud"), rng.choice([None, 1, 2])
        entries.append((seq // 7, seq, operation, *key, x))
        table.pop(key, None)
        if operation != "d":
            table[key] = (*key, x)
    rng.shuffle(entries)
    values = ", ".join(str(entry).replace("None", "null") for entry in entries)
    made = f'create table log as select * from (values {values}) as v("at", seq, op, a, b, x)'
    assert result(FLAT, ["a", "b", "x"], None, made) == sorted(table.values(), key=repr)


def test_delta_feed_with_an_update_of_the_key():
    made = """create table log as select * from (values
        (1, 'insert', 1, 'x'), (1, 'insert', 2, 'y'), (1, 'insert', 3, 'z'),
        (2, 'update_preimage', 1, 'x'), (2, 'update_postimage', 9, 'x'),
        (3, 'delete', 2, 'y'), (3, 'insert', 2, 'w'),
        (4, 'update_preimage', 3, 'z'), (4, 'update_postimage', 3, 'v')) as v(_commit_version, _change_type, id, x)"""
    assert result(DELTA, ["id", "x"], None, made) == [(2, "w"), (3, "v"), (9, "x")]


def test_debezium_envelope():
    made = """create table log as select op, ts_ms, {'lsn': lsn} as source,
        case when op = 'd' then null else {'id': id, 'x': x} end as after,
        case when op = 'd' then {'id': id, 'x': x} end as before from (values
        ('r', 1, 1, 1, 'a'), ('r', 1, 2, 2, 'b'), ('u', 5, 9, 1, 'c'), ('u', 5, 8, 1, 'wrong'),
        ('d', 6, 10, 2, 'b'), ('d', 6, 11, 1, 'c'), ('c', 6, 12, 1, 'e'), ('m', 7, 13, 7, null)) as v(op, ts_ms, lsn, id, x)"""
    assert result(DEBEZIUM, ["id", "x"], None, made) == [(1, "e")]


def test_log_that_tells_of_no_deletions():
    meta = {"key": "id", "change_log": {"order": "seq", "deletes": []}}
    made = (
        "create table log as select * from (values (1, 'c', 1, 'x'), (2, 'u', 1, 'y')) as v(seq, op, id, x)"
    )
    assert result(meta, ["id", "x"], None, made) == [(1, "y")]


def test_operations_that_nobody_declared():
    made = "create table log as select * from (values ('c'), ('t'), ('m'), (null), ('t')) as v(op)"
    assert result(DEBEZIUM, [], unknown_operations, made) == [("t",)]


def test_names_are_quoted_and_lines_are_kept():
    log = read_declaration("s", {"key": "order", "change_log": {"order": "a.b", "operation": "it`s"}}).log
    text = current_rows(log, "`s`.`t`", ["order"])
    assert "\n" not in text
    assert "partition by `order` order by `a`.`b` desc" in text
    assert "`it``s` in ('c', 'u', 'r', 'i', 'd')" in text


def test_columns_named_like_ours():
    columns = ["__ivm_newest", "__IVM_operation", "__ivm_of_source_newest"]
    meta = {"key": columns[0], "change_log": {"order": "seq"}}
    made = f"""create table log as select * from (values
        (1, 'c', 1, 7, 'a'), (2, 'u', 1, 8, 'b'), (3, 'd', 2, 9, 'c')) as v(seq, op, {", ".join(columns)})"""
    assert result(meta, columns, None, made) == [(1, 8, "b")]
