"""Expressions over TINYINT and SMALLINT columns of groups read them in these types, whatever the state stores."""

from __future__ import annotations

import re

import pytest

from tests.golden.compiled import compiled, new_engine
from tests.golden.tpch import TABLES

KEY, MOST = r"cast\((\w+\.|`__ivm_stored`\.)?`k` as smallint\)", r"cast\((\w+\.)?`__ivm_max_q` as tinyint\)"


@pytest.fixture(scope="module")
def engine():
    connection = new_engine()
    connection.execute("create table tpch.narrow (k smallint, q tinyint, x integer, d decimal(10, 2))")
    return connection


@pytest.fixture(autouse=True)
def narrow(monkeypatch):
    columns = [("k", "smallint"), ("q", "tinyint"), ("x", "integer"), ("d", "decimal(10,2)")]
    monkeypatch.setitem(TABLES, "narrow", columns)


@pytest.mark.parametrize(
    ("sql", "casts"),
    [
        ("select k, sum(d) / k as p from narrow group by k", [KEY]),
        ("select k, count(*) as n from narrow group by k having sum(d) / k > 1", [KEY]),
        ("select x, sum(d) / max(q) as p from narrow group by x", [MOST]),
        ("select k, count(q) as n from narrow group by k order by k * k limit 3", [KEY]),
        ("select k, sum(d) / k as p, rank() over (order by max(q)) as r from narrow group by k", [KEY, MOST]),
        ("select k, count(q) as n from narrow group by k order by k limit 3", []),
        ("select x, sum(d) / x as p from narrow group by x", []),
    ],
)
def test_casts(engine, sql, casts):
    text = compiled(engine, sql).finalizer.text("state", "one").lower()
    assert [one for one in (KEY, MOST) if re.search(one, text)] == casts, text
    assert ("rank() over" in text) == ("rank() over" in sql)
