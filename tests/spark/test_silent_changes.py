"""Updates of columns that a view does not read cost no join."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from sparkivm.formats.source_change import SourceChange, conflated
from sparkivm.names import TableName
from sparkivm.plan.key_ranges import Span
from sparkivm.refresh.changed_rows import silent_changes
from sparkivm.refresh.changed_rows.few_changes import few_rows
from sparkivm.refresh.changed_rows.questions import ChangedSources
from sparkivm.refresh.changed_rows.run_memory import Memory
from sparkivm.refresh.sources.pins import Pins
from tests.seeds import seed
from tests.spark.lab import Lab

pytestmark = [pytest.mark.spark, pytest.mark.slow]


def test_a_source_of_which_nothing_is_left_is_not_joined(spark, monkeypatch):
    monkeypatch.setattr(silent_changes, "_WORTH_ASKING_BYTES", 0)
    asked = []
    ask = ChangedSources.ask
    monkeypatch.setattr(
        ChangedSources, "ask", lambda self, questions: asked.append(1) or ask(self, questions)
    )
    lab = Lab(spark, "silent_changes")
    lab.table("orders", "id int, customer int, note string", "(1, 1, 'a')", "(2, 2, 'b')")
    lab.table("customers", "id int, name string, balance int", "(1, 'Ada', 5)", "(2, 'Bob', 6)")
    view = lab.view("m", "select o.id, c.name from orders o join customers c on o.customer = c.id").build()
    lab.run("update customers set balance = balance + 1 where id = 1")
    view.must_be("no_op")
    assert asked
    lab.run("insert into orders values (3, 1, 'c')", "update orders set note = 'z' where id = 1")
    result = view.must_be("incremental")
    assert "changes_2" not in result.statements[-1], "one changed source"
    lab.run("update customers set name = 'Cyd' where id = 2")
    view.must_be("incremental")
    lab.run("insert into customers values (3, 'Eve', 1)", "update customers set balance = 0 where id = 1")
    asked.clear()
    view.must_be("incremental")
    assert not asked, "it has one more row"


def test_changes_kept_in_fewer_columns_are_asked_of_too(spark, monkeypatch):
    lab = Lab(spark, "silent_kept")
    clauses = "tblproperties (delta.enableChangeDataFeed = true, delta.enableDeletionVectors = true)"
    rows = (f"({n}, {n % 2}, 'a')" for n in range(9))
    lab.table("t", "id int, other int, note string", *rows, clauses=clauses)
    pairs = lab.view("pairs", "select a.id, b.id as x from t a join t b on a.id = b.other").build()
    ids = lab.view("ids", "select id, count(*) as n from t group by id").build()
    lab.run("delete from t where id = 4", "update t set note = 'z' where id = 1")
    lab.run("insert into t values (4, 0, 'a')")
    run = Pins()
    pairs.refresh(run)
    monkeypatch.setattr(silent_changes, "_WORTH_ASKING_BYTES", 0)
    result = ids.refresh(run)
    assert (result.mode, result.fallback) == ("no_op", None)


_TYPES = {
    "i": "int", "l": "bigint", "m": "decimal(12,3)", "b": "boolean", "d": "date", "t": "timestamp", "n": "timestamp_ntz",
    "f": "float", "g": "double", "s": "string", "v": "varchar(9)", "c": "char(3)", "x": "binary", "a": "array<int>",
    "o": "struct<p: double>",
}  # fmt: skip
_VALUES = {
    "i": ("1", "-1"), "l": ("1", "9223372036854775807"), "m": ("1.5", "1.50", "-0.001"), "b": ("true", "false"),
    "d": ("date'2024-01-01'", "date'0001-01-01'", "date'9999-12-31'"),
    # When the clock is set back, an hour occurs twice with one text.
    "t": ("timestamp'2024-10-27 00:30:00Z'", "timestamp'2024-10-27 01:30:00Z'", "timestamp'9999-12-31 00:00:00Z'"),
    "n": ("timestamp_ntz'2024-10-27 02:30:00'", "timestamp_ntz'2024-10-27 02:30:00.000001'"),
    "f": ("0f", "-0f", "float('nan')", "0.1f"), "g": ("0d", "-0d", "double('nan')", "double('inf')", "1e-300"),
    "s": ("'a'", "'A'", "'a '", "''", "'null'", "'a,b'", "'é'"), "v": ("'a'", "'null'"), "c": ("'a'", "'b'"),
    "x": ("x'00'", "x'FF'", "x'FE'", "x''"), "a": ("array(1)", "array(2)"), "o": ("named_struct('p', 0d)",),
}  # fmt: skip


def test_the_driver_answers_as_spark_does(spark, monkeypatch):
    monkeypatch.setattr(silent_changes, "_WORTH_ASKING_BYTES", 0)
    rng = random.Random(seed("silent changes"))
    lab = Lab(spark, "silent_answers")
    lab.engine.session.conf.set("spark.sql.session.timeZone", "Europe/Berlin")
    columns = ", ".join(f"{name} {type_}" for name, type_ in _TYPES.items())
    lab.table("t", f"id int, {columns}", *(f"({n}, {_some_values(rng)})" for n in range(12)))
    old = lab.version("t")
    for _ in range(3):
        changed = rng.sample(list(_TYPES), 5)
        sets = ", ".join(f"{name} = {rng.choice((*_VALUES[name], 'null'))}" for name in changed)
        lab.run(f"update t set {sets} where id in ({rng.randrange(12)}, {rng.randrange(12)})")
    facts = lab.engine.describe(TableName(lab.schema, "t"))
    assert facts is not None
    change = SourceChange(
        "feed", old, facts.version, 12, nets=True, growth=0, conflated=conflated(facts.fields)
    )
    sources = ChangedSources(lab.engine, {"t": facts}, {"t": change}, Memory(), {"t": ["id"]})
    few = few_rows(sources, ["t"])["t"]
    assert set(few.fields) == {"id", *_TYPES} - {"a", "o"}
    answers = set()
    for _ in range(15):
        asked = rng.sample(list(few.fields), rng.choice((1, 1, 2, 3)))
        by_spark = bool(silent_changes._silent_to_spark(sources, {"t": asked}, ["t"]))
        assert few.are_silent(asked) == by_spark, asked
        answers.add(by_spark)
    assert answers == {True, False}
    for field in ("i", "l", "id"):
        low, high = lab.rows(
            f"select min({field}), max({field}) from table_changes('t', {old + 1}, {facts.version})"
        )[0]
        assert few.span(field) == (None if low is None else Span(low, high))
    for unsaid in (replace(change, growth=None), replace(change, counted=False)):
        assert few_rows(replace(sources, changes={"t": unsaid}), ["t"]) == {}  # unknown number of rows


def _some_values(rng: random.Random) -> str:
    return ", ".join(rng.choice((*_VALUES[name], "null")) for name in _TYPES)
