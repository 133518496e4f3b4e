"""PIVOT: its column names, and when the value of a group without rows is not known."""

from __future__ import annotations

import pytest
import sqlglot

from sparkivm.algebra.scalar import column
from sparkivm.errors import NotIncremental
from sparkivm.frontend.pivot_values import is_value
from sparkivm.reasons import Reason
from sparkivm.spark.data_types import spark_type
from tests.reading import assert_refused, read


def pivot(aggregates: str, keys: str = "a in (1, 2 as two)") -> str:
    return f"select * from (select k, a, d, s from r) pivot ({aggregates} for {keys})"


def test_values_without_an_alias_are_named_as_text():
    sql = pivot("sum(d)", "(a, s) in ((1, 'x'), (-2, 'y') as y)")
    assert len(read(f"select `{{1, x}}`, y from ({sql})").output) == 2


def test_null_is_a_value():
    sql = pivot("sum(d)", "a in (1, null)")
    assert list(read(f"select `null`, `1` from ({sql})").output) == ["null", "1"]
    sql = pivot("sum(d)", "(a, s) in ((1, 'x'), (null, 'y'), (-2, null) as z)")
    assert len(read(f"select `{{null, y}}`, z from ({sql})").output) == 2


@pytest.mark.parametrize(
    ("sql", "reason", "detail"),
    [
        (pivot("sum(a + k) as s, count(*) as n"), Reason.OPERATOR_NOT_SUPPORTED, "whose type is not known"),
        (
            pivot("coalesce(sum(d), 0)"),
            Reason.OPERATOR_NOT_SUPPORTED,
            "PIVOT with COALESCE(SUM(`d`), 0), whose type is not known",
        ),
        (
            pivot("first(d) as x, last(k) as y"),
            Reason.NON_DETERMINISTIC_EXPRESSION,
            "first takes the value of any row",
        ),
        (pivot("sum(d)", "a in (1, cast(null as int))"), Reason.OPERATOR_NOT_SUPPORTED, "without an alias"),
        (pivot("sum(d), avg(d)"), Reason.OPERATOR_NOT_SUPPORTED, "without an alias"),
        (pivot("sum(d)", "a in (1.5)"), Reason.OPERATOR_NOT_SUPPORTED, "without an alias"),
        (
            "select * from (select k, a, b from r) unpivot ((x, y) for n in (a, b))",
            Reason.SQL_NOT_UNDERSTOOD,
            "do not match its values",
        ),
        ("select * from r unpivot (x for n in ())", Reason.SQL_NOT_UNDERSTOOD, "UNPIVOT without columns"),
        ("select max(distinct) from r", Reason.SQL_NOT_UNDERSTOOD, "max has no argument"),
        ("select count(distinct) from r", Reason.SQL_NOT_UNDERSTOOD, "count has no argument"),
        (
            "select * from r join s using (k) unpivot (x for n in (s.k))",
            Reason.OPERATOR_NOT_SUPPORTED,
            "UNPIVOT of a non-column",
        ),
        (pivot("sum(d)", "a in (1, 1 as x)"), Reason.SQL_NOT_UNDERSTOOD, "listed twice"),
        (pivot("sum(d) filter (where k > 1)"), Reason.OPERATOR_NOT_SUPPORTED, "PIVOT with"),
    ],
)
def test_what_is_refused(sql, reason, detail):
    assert_refused(sql, reason, detail)


@pytest.mark.parametrize("call", ["bool_and(k > 1)", "bool_or(k > 1)", "every(k > 1)", "some(k > 1)"])
def test_a_group_without_rows_has_no_truth_value(call):
    """Beside an aggregate that is not NULL over empty input, their type decides."""
    sql = pivot(f"{call} as b, count(*) as n")
    assert list(read(f"select 1_b, 1_n, two_b from ({sql})").output) == ["1_b", "1_n", "two_b"]


def test_unpivot_of_the_only_column():
    assert read("select * from (select a from r) unpivot (x for n in (a))").output == ("n", "x")


def compared(value: str, type_: str | None) -> str:
    known = None if type_ is None else spark_type(type_)
    tree = is_value(column("c").tree, sqlglot.parse_one(value, dialect="spark"), known)
    return tree.sql("spark").replace("IS NOT DISTINCT FROM", "<=>").replace("(-1)", "-1")


@pytest.mark.parametrize(
    ("value", "type_"),
    [
        ("1", "int"),
        ("-1", "int"),
        ("3000000000", "bigint"),
        ("'x'", "string"),
        ("'x'", "varchar(3)"),
        ("'x'", None),
        ("NULL", "double"),
        ("NULL", None),
        ("TRUE", "boolean"),
        ("CAST('2020-01-01' AS DATE)", "date"),
    ],
)
def test_a_value_of_the_type_of_its_column_stays(value, type_):
    assert compared(value, type_) == f"`c` <=> {value}"


@pytest.mark.parametrize(
    ("value", "type_"),
    [
        ("1", "string"),
        ("'1'", "int"),
        ("3000000000", "int"),
        ("1.5", "decimal(12,2)"),
        ("1", "tinyint"),
        ("CAST('2020-01-01' AS DATE)", "timestamp"),
    ],
)
def test_another_one_is_cast_to_it(value, type_):
    assert compared(value, type_) == f"`c` <=> CAST({value} AS {type_.upper()})".replace("12,2", "12, 2")


@pytest.mark.parametrize("value", ["1", "-1", "TRUE", "CAST('2020-01-01' AS DATE)"])
def test_a_value_for_a_column_that_may_be_a_string(value):
    assert compared(value, None) == (
        f"IF(TYPEOF(`c`) = 'string', CAST(`c` AS STRING) <=> CAST({value} AS STRING), `c` <=> {value})"
    )


@pytest.mark.parametrize(
    ("value", "type_"), [("1.5", None), ("1 + 1", None), ("'a'", "char(3)"), ("1", "udt")]
)
def test_a_value_that_may_be_compared_otherwise(value, type_):
    with pytest.raises(NotIncremental, match="a value of PIVOT"):
        compared(value, type_)
