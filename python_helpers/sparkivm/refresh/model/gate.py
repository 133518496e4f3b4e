"""The gate: does Spark read the printed model and the plan as it reads the model itself?"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import takewhile

from sqlglot import exp

from sparkivm.algebra.moment import MOMENTS
from sparkivm.algebra.spark_text import SparkText
from sparkivm.engine import Engine, EngineError, Field
from sparkivm.frontend.moment_calls import replace_moments
from sparkivm.frontend.moving_texts import moving_word, with_another_word
from sparkivm.frontend.place import not_deterministic, not_understood

_EXPRESSION_ID = re.compile(r"#\d+L?")
# A typed literal is printed as the cast of a plain one: `1L` as `CAST(1 AS BIGINT)`.
_CAST_LITERAL = re.compile(
    r"cast\((-?\d+(?:\.\d+)?|\d{4}-\d\d-\d\d) as "
    r"(?:date|tinyint|smallint|bigint|float|double|decimal\(\d+,\d+\))\)"
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
_CTE_ID = re.compile(r"\b(CTERelationDef|CTERelationRef) \d+")


def check_text_is_understood(engine: Engine, sql: str, tree: exp.Query) -> None:
    """Raises: NotIncremental if Spark's plans of the text and of its printing differ."""
    printed = tree.sql(dialect=SparkText)
    try:
        reread = engine.analyzed_plan(printed)
    except EngineError as error:
        raise not_understood(f"Spark refuses the SQL as the parser prints it: {error}") from None
    original, reread = comparable_plan(engine.analyzed_plan(sql)), comparable_plan(reread)
    if original != reread:
        mine, other = _first_difference(original, reread)
        raise not_understood(f"Spark reads `{mine}`, but `{other}` in the SQL as the parser prints it")
    _check_nothing_moves(engine, tree)


def _check_nothing_moves(engine: Engine, tree: exp.Query) -> None:
    """Raises: NotIncremental if Spark casts a text such as 'today' to a date.

    Such a text computes to a date, and any other text to NULL; where it stays a text, the plans are the same.
    """
    for word, literal in {word: node for node in tree.walk() if (word := moving_word(node))}.items():
        other = "~" * len(word)
        plan, changed = (
            replace_moments(one.sql(dialect=SparkText), _ANY_MOMENT)
            for one in (tree, with_another_word(tree, word, other))
        )
        expected = comparable_plan(engine.optimized_plan(plan))
        try:
            found = comparable_plan(engine.optimized_plan(changed))
        except EngineError:  # ANSI: it is not a date
            found = ""
        if found.replace(other, word) != expected:
            what = f"Spark reads {literal.sql()} as a date or time, which depends on the day of the refresh"
            raise not_deterministic(what, literal)


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
    numbers: dict[str, str] = {}
    plan = _EXPRESSION_ID.sub(
        lambda found: numbers.setdefault(found[0].rstrip("L"), f"#{len(numbers)}"), plan
    )
    plan = _CAST_LITERAL.sub(r"\1", _CTE_ID.sub(r"\1", plan))
    plan = _without_assertions(_UNIT.sub(lambda unit: unit[0].lower(), plan))
    plan = plan.replace("isnotnull(", "NOT isnull(")  # x IS NOT NULL is printed as NOT x IS NULL
    plan = _LATERAL_CROSS.sub(r"\1 Inner", plan.replace("Join Cross", "Join Inner"))
    return _ON_TRUE.sub(r"\1", plan)


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
