"""Literals that a column stands for, or that a query groups by: what is written in their place.

Spark's result type of `d / 3` has six decimal places where `d / n` has thirteen.
"""

from __future__ import annotations

import pytest

from sparkivm.algebra.scalar import Scalar, as_operand, column, is_literal
from sparkivm.algebra.sql_expression import expression
from sparkivm.normalize.pipeline import normalize
from sparkivm.reasons import Reason
from sparkivm.spark_sql.relations import select_text
from tests.fuzz.embedded import Sources
from tests.reading import read, refusal


@pytest.mark.parametrize(
    ("definition", "written"),
    [
        ("3", "CAST(3 AS INT)"),
        ("-3", "CAST(-3 AS INT)"),
        ("(3)", "CAST(3 AS INT)"),
        ("2147483647", "CAST(2147483647 AS INT)"),
        ("-2147483648", "CAST(-2147483648 AS INT)"),
        ("2147483648", "CAST(2147483648 AS BIGINT)"),
        ("99999999999999999999", "99999999999999999999"),  # a DECIMAL
        ("3.0", "3.0"),
        ("'3'", "'3'"),
        ("null", "NULL"),
        ("true", "TRUE"),
        ("x + 3", "x + 3"),
    ],
)
def test_an_integer_within_an_expression_has_the_type_of_its_column(definition, written):
    tree = expression(definition).tree
    assert as_operand(tree).sql("spark") == written
    assert column("n").substitute({"n": Scalar(tree)}) == Scalar(tree)


@pytest.mark.parametrize("text", ["3", "-3", "'a'", "null", "true", "1.5"])
def test_literals(text):
    assert is_literal(expression(text).tree)


def test_literals_with_a_type_are_printed_as_written():
    """Spark's gate compares plans, and a CAST of a text is another plan."""
    for type_ in ("DATE", "TIMESTAMP", "TIMESTAMP_LTZ", "TIMESTAMP_NTZ"):
        root = read(f"select {type_} '2024-01-01' as x from r").root
        assert f"{type_} '2024-01-01'" in select_text(root, Sources(1))


@pytest.mark.parametrize("text", ["x", "1 + 1", "-x", "cast(1 as int)", "date '2024-01-01'"])
def test_other_constants_are_no_literals(text):
    assert not is_literal(expression(text).tree)


@pytest.mark.parametrize(
    "sql",
    [
        "select k, b from (select k, b, 3 as n from r) where b / n > 0.3",
        "select k, b from (select k, b, 3 as n from r union all select k, b, 3 from s) where b / n > 0.3",
        "select k, 3 as n, b / n as x from r",
        "select k, max(b / n) as x from (select k, b, 3 as n from r) group by k",
        "select k, 3 as n from r group by k having max(b) / n > 0.3",
        "select k, b, 3 as n from r order by b / n",
        "select k, (select 3) / b as x from r",
    ],
)
def test_no_literal_beside_an_operator(sql):
    root = read(sql).root
    text = select_text(normalize(root, frozenset(root.columns)), Sources(1))
    assert "CAST(3 AS INT)" in text
    assert "/ 3" not in text


KEYS = {
    "select 2 as lit, k, sum(b) * 2 as x from r group by all": "* 2",
    "select null as lit, k, max(a) is null as x from r group by all": "IS NULL",
    "select true as lit, k, (max(a) > 1) is true as x from r group by all": "IS TRUE",
    "select 10 as lit, k, cast(sum(a) as decimal(10, 2)) as x from r group by all": "DECIMAL(10, 2)",
    "select '1' as lit, k, max(d) + interval '1' day as x from r group by all": "INTERVAL '1' DAY",
    "select 1 as lit, k, sum(count(*)) over (order by k rows between 1 preceding and current row) as x from r "
    "group by all": "1 preceding",
    "select distinct 1 as lit, a from r order by cast(a as decimal(1, 0))": "DECIMAL(1, 0)",
}


@pytest.mark.parametrize(("sql", "kept"), KEYS.items())
def test_a_literal_by_which_a_query_groups_is_not_replaced_elsewhere(sql, kept):
    query = read(sql)
    assert kept in select_text(query.root, Sources(1))
    assert "lit" in query.root.columns


def test_with_grouping_sets_spark_replaces_it():
    for rest in ("sum(b) * 2 as x", "cast(sum(b) as decimal(2, 0)) as x"):
        assert (
            refusal(f"select 2 as lit, k, {rest} from r group by cube (lit, k)").reason
            is Reason.OPERATOR_NOT_SUPPORTED
        )
    assert read("select 2 as lit, k, sum(b) as x from r group by cube (lit, k)")
