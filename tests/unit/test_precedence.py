"""Neighboring operators that Spark groups differently from the parser."""

from __future__ import annotations

import pytest

from sparkivm.algebra.sql_expression import expression
from sparkivm.reasons import Reason
from tests.reading import assert_refused, read


@pytest.mark.parametrize(
    "text",
    [
        "a | b & k",
        "a ^ b & k",
        "a | b ^ k",
        "a | b << k",
        "a & b << k",
        "s || a + b",
        "a = b in (1, 2)",
        "a = b between 1 and 2",
        "a = b like 'x'",
        "a = b < k",
        "a between b and k = b",
        "s like not s",
        "a between not b and k",
        "a between b and not k",
    ],
)
def test_what_is_refused(text):
    assert_refused(f"select {text} as x from r", Reason.SQL_NOT_UNDERSTOOD, "without parentheses")


@pytest.mark.parametrize(
    "text",
    [
        "(a | b) & k",
        "a <=> b = k",
        "a <=> b in (1, 2)",
        "a = b is not null",
        "a = b is null",
        "s || a << b",
        "a | (b & k)",
        "a & b & k",
        "a & b = k",
        "a + b << k",
        "a + b || s",
        "s || a * b",
        "s || s || s = s",
        "a - b - k * a / b",
        "- a + ~ b * - k",
        "not a = b and k is not null or not k in (1, 2) and a between b + 1 and b * 2",
        "a = b and (b = k or k < a) and k + a > b",
        "a = b = (k = a)",
        "a < b = true",
        "s like 'x' escape '!' and s rlike s || 'y' and s not like s",
        "a + b <=> k * 2",
        "case when a = b then a = k end = (a = k)",
        "a + 1 in (b + k, k) and a in (select x.a = x.b from s as x)",
        "(a, b) in (select x.a, x.b from s as x)",
        "exists(array(a), x -> x = b and x is not null)",
        "a::string || b::string = s",
    ],
)
def test_what_is_read(text):
    assert read(f"select {text} as x from r").output


@pytest.mark.parametrize(
    ("condition", "text"),
    [
        ("x = false", "(`a` IN (1, 2)) = FALSE"),
        ("x is null", "(`a` IN (1, 2)) IS NULL"),
        ("not x", "NOT (`a` IN (1, 2))"),
    ],
)
def test_an_operand_gets_parentheses(condition, text):
    assert expression(condition, x=expression("a in (1, 2)", a="a")).sql("spark") == text
