"""The gate between a model's text and its plan."""

from __future__ import annotations

import re
from typing import Any

import pytest

from sparkivm.engine import EngineError, Field
from sparkivm.errors import NotIncremental
from sparkivm.frontend.moving_texts import with_other_words
from sparkivm.frontend.parse import parse_model
from sparkivm.reasons import Reason
from sparkivm.refresh.model.gate import check_plan_is_understood, check_text_is_understood, comparable_plan

TEXT = "select a from t where b"
FIELDS = (Field("a", "int"), Field("b", "string"))


class Spark:
    """Returns the same columns for every text, or refuses it."""

    def __init__(self, *fields: Field) -> None:
        self._fields = fields

    def schema_of(self, sql: str) -> tuple[Field, ...]:
        if not self._fields:
            raise EngineError("`c` is ambiguous")
        return self._fields


def refused(*fields: Field) -> str:
    engine: Any = Spark(*fields)
    with pytest.raises(NotIncremental) as raised:
        check_plan_is_understood(engine, "select", FIELDS)
    return raised.value.fallback.detail


def refused_text(engine: Any, sql: str) -> str:
    """Why the gate refuses a text."""
    with pytest.raises(NotIncremental) as raised:
        check_text_is_understood(engine, sql, parse_model("m", sql))
    return raised.value.fallback.detail


def test_a_plan_with_other_columns_is_refused():
    assert refused(Field("a", "bigint"), Field("b", "string")) == (
        "Spark's columns are a int, b string; the plan's are a bigint, b string"
    )
    assert "`c` is ambiguous" in refused()
    engine: Any = Spark(*FIELDS)
    check_plan_is_understood(engine, "select", FIELDS)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("+- Join Cross", "+- Join Inner, true"),
        ("+- Join FullOuter", "+- Join FullOuter, true"),
        ("+- LateralJoin lateral-subquery#3 [c1#0], Cross", "+- LateralJoin lateral-subquery#7 [c1#5], Inner, true"),
    ],
)  # fmt: skip
def test_a_join_without_on_is_on_true(one, other):
    assert comparable_plan(one) == comparable_plan(other)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("CTERelationDef 3, f\nCTERelationDef 5, g\nCTERelationRef 5", "CTERelationDef 0, f\nCTERelationDef 1, g\nCTERelationRef 1", True),
        ("CTERelationDef 3, f\nCTERelationDef 5, g\nCTERelationRef 5", "CTERelationDef 0, f\nCTERelationDef 1, g\nCTERelationRef 0", False),
        ("a = 1", "a = cast(1 as bigint)", True),
        ("a = 1.5", "a = cast(1.5 as bigint)", False),
        ("a = -12.50", "a = cast(-12.50 as decimal(4,2))", True),
        ("a = 0.05", "a = cast(0.05 as decimal(2,2))", True),
        ("a = 0", "a = cast(0 as decimal(1,0))", True),
        ("a = 7", "a = cast(7 as decimal(1,0))", True),
        ("a = 1.5", "a = cast(1.5 as decimal(10,0))", False),
        ("a = cast(1.5 as decimal(10,0))", "a = cast(2.5 as decimal(10,0))", False),
        ("a = 1.5", "a = cast(1.5 as double)", True),
        ("a = 2020-01-01", "a = cast(2020-01-01 as date)", True),
    ],
)  # fmt: skip
def test_ids_and_casts_of_literals(one, other, same):
    assert (comparable_plan(one) == comparable_plan(other)) is same


def test_a_join_with_on_is_another():
    assert comparable_plan("+- Join Inner, (a#1 = b#2)") != comparable_plan("+- Join Inner")


def test_a_misread_text_is_shown_where_it_differs():
    class Engine:
        def analyzed_plan(self, sql: str) -> str:
            filtered = "b" if sql == TEXT else "c"
            return f"Project [a]\n+- Filter {filtered}\n   +- Relation"

    assert "Spark reads `+- Filter b`, but `+- Filter c` in the SQL" in refused_text(Engine(), TEXT)


def test_rows_of_values_are_compared_though_the_plan_does_not_show_them():
    class Engine:
        def analyzed_plan(self, sql: str) -> str:
            """Reads 'a' as 1 in the original text."""
            return "LocalRelation [c#0]" if "values" in sql.lower() else sql.replace('"a"', "1")

    sql = """select * from values ("a", "b") as t (c, d)"""
    assert "Spark reads `select struct((1" in refused_text(Engine(), sql)


def test_rows_that_spark_does_not_take_alone_are_not_understood():
    class Engine:
        def analyzed_plan(self, sql: str) -> str:
            if "struct(" in sql:
                raise EngineError("[PARSE_SYNTAX_ERROR]", "PARSE_SYNTAX_ERROR")
            return "LocalRelation [c#0]"

    assert "Spark refuses the SQL" in refused_text(Engine(), "select * from values (1) as t (c)")


class Optimizer:
    """Computes a constant date, as Spark does, where a text is compared with the column `d`."""

    def __init__(self, *, ansi: bool = False) -> None:
        self._ansi = ansi

    def analyzed_plan(self, sql: str) -> str:
        return f"Project {sql.lower()}"

    def optimized_plan(self, sql: str) -> str:
        """Sorts the values of IN."""
        text = sql.partition("d > '")[2].partition("'")[0]
        grouped = re.search("group by (.*) having (.*)", sql, re.IGNORECASE)
        if grouped and grouped[1] != grouped[2]:
            raise EngineError("[UNRESOLVED_COLUMN]", "UNRESOLVED_COLUMN.WITH_SUGGESTION")
        if text and self._ansi and text not in ("today", "08:00"):
            raise EngineError("[CAST_INVALID_INPUT]", "CAST_INVALID_INPUT")
        if any(f").{name} " in sql and f"'{name} int'" not in sql for name in ("now", "today")):
            raise EngineError("[FIELD_NOT_FOUND]", "FIELD_NOT_FOUND")
        computed = {"today": "2026-01-15", "08:00": "2026-01-15 08:00:00"}.get(text, "null")
        plan = self.analyzed_plan(sql.replace(f"'{text}'", computed) if text else sql)
        return re.sub(r"(?<=in \()[^)]*", lambda found: ", ".join(sorted(found[0].split(", "))), plan)


@pytest.mark.parametrize("ansi", [True, False])
@pytest.mark.parametrize(
    ("condition", "moves"),
    [
        ("s = 'today'", False),
        ("s like 'today%' and t > '08:00'", False),
        ("s = 'today' and ts > current_timestamp()", False),
        ("s in ('08:00', '09:00') and u = 't1'", False),
        ("from_json(s, 'now int').now > 1", False),
        ("d > 'today'", True),
        ("from_json(s, 'today int').today > 1 and d > 'today'", True),
        ("a > 1 group by d > 'today' having d > 'today'", True),
        ("d > '08:00'", True),
        ("s > '09:00' and d > 'today'", True),
    ],
)
def test_a_text_that_spark_reads_as_a_date_moves(condition, moves, ansi):
    sql = f"select a from t where {condition}"
    engine: Any = Optimizer(ansi=ansi)
    tree = parse_model("m", sql)
    if not moves:
        check_text_is_understood(engine, sql, tree)
        return
    with pytest.raises(NotIncremental, match="as a date or time") as raised:
        check_text_is_understood(engine, sql, tree)
    assert raised.value.fallback.reason is Reason.NON_DETERMINISTIC_EXPRESSION


def test_the_rest_of_such_a_text_stays():
    """What an expression takes from its end is the same as before."""
    changed, (other,) = with_other_words(parse_model("m", "select 'now or now' as x from t"), [0])
    assert changed.expressions[0].this.name == f"{other} or now"


def test_an_assertion_has_the_condition_in_its_message():
    inner = "assert_true(NOT isnull(d#{0}), ({1}) is not true!)"
    plan = (
        "Project [coalesce(d#{0}, if (NOT isnull(d#{0})) assert_true(NOT isnull(f("
        + inner
        + ")), (f({1})) is not true!) else null)]"
    )
    one = comparable_plan(plan.format(1, "trunc('a', d) IS NOT NULL"))
    assert one == comparable_plan(plan.format(7, "NOT (trunc('a', d) IS NULL)"))
    assert one != comparable_plan(plan.format(7, "d").replace("coalesce(d#7", "coalesce(e#8"))
    assert "assert_true" not in one
    assert comparable_plan("x assert_true(a, b") == "x assert_true(a, b"


def test_of_a_long_line_the_place_is_shown_where_it_differs():
    class Engine:
        def analyzed_plan(self, sql: str) -> str:
            return f"Project [{'a, ' * 100}{'b' if sql == TEXT else 'c'}{', a' * 100}]"

    mine, other = refused_text(Engine(), TEXT).split(", but ")
    assert "b" in mine.partition("`")[2]
    assert "a, c, a" in other
