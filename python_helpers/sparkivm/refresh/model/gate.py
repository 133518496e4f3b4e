"""The gate: does Spark read the printed model and the plan as it reads the model itself?

tested  tests/unit/test_gate.py, tests/spark/test_moving_texts.py
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from itertools import takewhile, zip_longest
from typing import Literal

from sqlglot import exp

from sparkivm.algebra.moment import MOMENTS
from sparkivm.algebra.spark_text import SparkText
from sparkivm.engine import Engine, EngineError, Field
from sparkivm.frontend.moment_calls import replace_moments
from sparkivm.frontend.moving_texts import moving_texts, with_other_words
from sparkivm.frontend.place import not_deterministic, not_understood
from sparkivm.frontend.values_rows import rows_of_values

_EXPRESSION_ID = re.compile(r"#\d+L?")
# A typed literal is printed as the cast of a plain one: `1L` as `CAST(1 AS BIGINT)`.
_CAST_LITERAL = re.compile(
    r"cast\((?:(-?\d+) as (?:tinyint|smallint|bigint)"
    r"|(-?\d+(?:\.\d+)?) as (?:float|double|decimal\((\d+),(\d+)\))"
    r"|(\d{4}-\d\d-\d\d) as date)\)"
)
# EXTRACT(year FROM d) is printed as EXTRACT(YEAR FROM d).
_UNIT = re.compile(r"(?<=extract\()\w+(?=,)|(?<=timestampadd\()\w+(?=,)|(?<=timestampdiff\()\w+(?=,)")
_LATERAL_CROSS = re.compile(r"(LateralJoin .*,) Cross$", re.MULTILINE)
# JOIN without ON is printed with ON TRUE.
_ON_TRUE = re.compile(r"(Join .*), true$", re.MULTILINE)
_ASSERT = "assert_true("
_ANY_MOMENT = {
    MOMENTS["current_date"]: "date '2000-01-01'",
    MOMENTS["current_timestamp"]: "timestamp '2000-01-01 00:00:00'",
    MOMENTS["localtimestamp"]: "timestamp_ntz '2000-01-01 00:00:00'",
}
# A text that is the name of a column or field, or part of a schema or an interval.
_NO_VALUE = ("UNRESOLVED_COLUMN", "FIELD_NOT_FOUND", "PARSE_SYNTAX_ERROR", "INVALID_INTERVAL_FORMAT")
_WORD = re.compile(r"[^\s,()\[\]]+")
_CTE_ID = re.compile(r"\b(CTERelationDef|CTERelationRef) (\d+)")


def check_text_is_understood(engine: Engine, sql: str, tree: exp.Query) -> None:
    """Raises: NotIncremental if Spark's plans of the text and of its printing differ."""
    printed = tree.sql(dialect=SparkText)
    _check_same_plan(engine, sql, printed)
    if tree.find(exp.Values):  # a plan does not show its rows
        for mine, other in zip_longest(rows_of_values(sql), rows_of_values(printed), fillvalue=""):
            _check_same_plan(engine, *(f"select struct({rows}) as rows" for rows in (mine, other)))
    _check_nothing_moves(engine, tree)


def _check_same_plan(engine: Engine, sql: str, printed: str) -> None:
    try:
        original, reread = (comparable_plan(engine.analyzed_plan(text)) for text in (sql, printed))
    except EngineError as error:
        raise not_understood(f"Spark refuses the SQL as the parser prints it: {error}") from None
    if original != reread:
        mine, other = _first_difference(original, reread)
        raise not_understood(f"Spark reads `{mine}`, but `{other}` in the SQL as the parser prints it")


def _check_nothing_moves(engine: Engine, tree: exp.Query) -> None:
    """Raises: NotIncremental if Spark casts a text such as 'today' to a date.

    Such a text computes to a date, and any other text to NULL; where it stays a text, the plans are the same.
    """
    texts = moving_texts(tree)
    if not texts:
        return
    expected = _words_by_line(_optimized(engine, tree))
    together = _read_as(engine, tree, range(len(texts)), expected)
    if together == "text":
        return
    names = Counter[str]()
    moving = texts[0] if together == "moment" else None
    for number, literal in enumerate(texts):
        found = _read_as(engine, tree, [number], expected)
        names[literal.name] += found == "name"
        # An expression that has to be equal to another one looks like a name if only one of them is changed.
        if found == "moment" or names[literal.name] > 1:
            moving = literal
            break
    if moving is not None:
        what = f"Spark reads {moving.sql()} as a date or time, which depends on the day of the refresh"
        raise not_deterministic(what, moving)


def _read_as(
    engine: Engine, tree: exp.Query, numbers: Collection[int], expected: Sequence[Sequence[str]]
) -> Literal["text", "name", "moment"]:
    """How Spark reads some of the tree's texts, judged by its plan with other words in them."""
    changed, words = with_other_words(tree, numbers)
    try:
        plan = _optimized(engine, changed)
    except EngineError as error:  # ANSI: it is not a date
        return "name" if error.condition.partition(".")[0] in _NO_VALUE else "moment"
    for other, word in words.items():
        plan = plan.replace(other, word)
    return "text" if _words_by_line(plan) == expected else "moment"


def _optimized(engine: Engine, tree: exp.Expr) -> str:
    return comparable_plan(engine.optimized_plan(replace_moments(tree.sql(dialect=SparkText), _ANY_MOMENT)))


def _words_by_line(plan: str) -> list[list[str]]:
    """The words of each line, in alphabetical order: Spark prints the values of a long IN list in theirs."""
    return [sorted(_WORD.findall(line)) for line in plan.splitlines()]


def check_columns_are_counted(found: int, fields: Sequence[Field]) -> None:
    """Raises: NotIncremental if Spark returns more or fewer columns than were found in the model's SQL."""
    if found != len(fields):
        raise not_understood(
            f"Spark returns {len(fields)} columns, {found} were found. EXPLODE of a MAP makes two: name all "
            "columns of EXPLODE and POSEXPLODE"
        )


def check_plan_is_understood(engine: Engine, sql: str, fields: Sequence[Field]) -> None:
    """Raises: NotIncremental if the plan's columns are not those of the model.

    sql  what the public view shows over a state built from the sources as they are
    """
    try:
        found = engine.schema_of(sql)
    except EngineError as error:
        raise not_understood(f"Spark refuses the view's plan: {error}") from None
    mine, other = ([f"{f.name} {f.type}" for f in some] for some in (fields, found))
    if mine != other:
        raise not_understood(f"Spark's columns are {', '.join(mine)}; the plan's are {', '.join(other)}")


def comparable_plan(plan: str) -> str:
    """A plan without differences that mean nothing: ids, spellings of literals and joins."""
    numbers, ctes = dict[str, str](), dict[str, int]()
    plan = _EXPRESSION_ID.sub(
        lambda found: numbers.setdefault(found[0].rstrip("L"), f"#{len(numbers)}"), plan
    )
    plan = _CTE_ID.sub(lambda found: f"{found[1]} {ctes.setdefault(found[2], len(ctes))}", plan)
    plan = _CAST_LITERAL.sub(_typed_literal, plan)
    plan = _without_assertions(_UNIT.sub(lambda unit: unit[0].lower(), plan))
    plan = plan.replace("isnotnull(", "NOT isnull(")  # x IS NOT NULL is printed as NOT x IS NULL
    plan = _LATERAL_CROSS.sub(r"\1 Inner", plan.replace("Join Cross", "Join Inner"))
    return _ON_TRUE.sub(r"\1", plan)


def _typed_literal(cast: re.Match[str]) -> str:
    """The literal of a cast, unless a DECIMAL has other digits than it."""
    whole, number, precision, scale, date = cast.groups()
    if precision:
        before, _, after = number.lstrip("-").partition(".")
        digits = len(after) + len(before.lstrip("0"))
        if (int(precision), int(scale)) != (max(digits, len(after), 1), len(after)):
            return cast[0]
    return whole or number or date


def _without_assertions(plan: str) -> str:
    """The plan without ASSERT_TRUE, whose message has the condition as it is printed.

    The parser only reads assertions beside their value (`frontend.expressions`), which is compared.
    """
    start = plan.find(_ASSERT)
    while start >= 0:
        depth = 0
        for end in range(start, len(plan)):
            depth += {"(": 1, ")": -1}.get(plan[end], 0)
            if plan[end] == ")" and depth == 0:
                plan = f"{plan[:start]}asserted{plan[end + 1 :]}"
                break
        start = plan.find(_ASSERT, start + 1)
    return plan


def _first_difference(one: str, other: str) -> tuple[str, str]:
    for mine, theirs in zip(one.splitlines(), other.splitlines(), strict=False):
        if mine != theirs:
            same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(mine, theirs, strict=False)))
            start = max(0, same - 60)
            return mine[start : start + 120].strip(), theirs[start : start + 120].strip()
    return "", "more lines"
