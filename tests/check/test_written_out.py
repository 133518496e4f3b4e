"""Names replaced by subqueries, and the places of errors in what they make."""

from __future__ import annotations

import pytest

from sparkivm.check.written_out import written_out
from sparkivm.engine import EngineError


def replaced(sql: str) -> str:
    return written_out(sql, lambda parts: "(q)" if parts[-1].lower() == "a" else None).text


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("select 1", "select 1"),
        ("select * from s.b", "select * from s.b"),
        ("select * from s.a", "select * from (q) as `a`"),
        ("select * from s.a x, s.`A` as y", "select * from (q) x, (q) as y"),
        ("select s.a.id, S.A.*, a.id from s.a", "select a.id, A.*, a.id from (q) as `a`"),
        ("select s.a.id from s.a as s", "select s.a.id from (q) as s"),
        ("select c.s.a.id from c.s.a", "select a.id from (q) as `a`"),
        ("with a as (select 1) select * from a", "with a as (select 1) select * from a"),
        ("select 's.a' -- s.a\nfrom b where x in (select y from s.a)", "select 's.a' -- s.a\nfrom b where x in (select y from (q) as `a`)"),
        ("select ( from s.a", "select ( from s.a"),
    ],
)  # fmt: skip
def test_names(sql, expected):
    assert replaced(sql) == expected


@pytest.mark.parametrize("lines_before", [0, 1])
@pytest.mark.parametrize("bad", ["oops", "s.a"])
def test_the_place_of_an_error(bad, lines_before):
    sql = "select s.a.k,\n  s.a.x from s.a join s.a as z on oops"
    written = written_out(sql, lambda parts: "(a longer\ntext)")
    shown = {"oops": "oops", "s.a": "longer"}[bad]
    at = written.text.index(shown)
    line, pos = written.text.count("\n", 0, at) + 1, at - written.text.rfind("\n", 0, at) - 1
    error = EngineError(f"[X] bad; line {line + lines_before} pos {pos}", "X", lines_before)
    found = written.in_original(error)
    at = sql.index(bad, sql.index("from"))
    assert found.position == (2, at - sql.index("\n"))
    assert (found.condition, found.lines_before) == ("X", lines_before)


def test_an_error_without_place():
    error = EngineError("[X] bad")
    assert written_out("select 1", lambda parts: None).in_original(error) is error
