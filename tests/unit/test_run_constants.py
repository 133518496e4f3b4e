"""Which columns of a query are literals that may differ in each dbt run."""

from __future__ import annotations

import pytest

from sparkivm.algebra import Scalar
from sparkivm.frontend.parse import parse_model
from sparkivm.plan.run_constants import is_run_constant


@pytest.mark.parametrize(
    ("text", "constant"),
    [
        ("'2b1e-77'", True),
        ("7", True),
        ("1.5", True),
        ("true", True),
        ("cast('2024-02-29 23:59:59.123456+00:00' as timestamp)", True),
        ("timestamp'2024-02-29 00:00:00Z'", True),
        ("cast('2024-02-29T00:00:00' as timestamp_ntz)", True),
        ("date'2024-02-29'", True),
        ("cast('a' as string)", True),
        # in the form that a public view uses
        ("cast(if(true, 'a', null) as string)", True),
        ("cast(if(true, cast('2024-02-29' as date), null) as date)", True),
        ("cast(if(true, cast('a' as string), null) as int)", False),
        ("cast(if(true, 'a', null) as int)", False),
        ("cast(if(a, 'a', null) as string)", False),
        ("cast(if(true, 'a', 'b') as string)", False),
        ("cast(if(true, a, null) as string)", False),
        # Spark may fail or return NULL, as it would for each row of the query.
        ("cast('2023-02-29 00:00:00' as timestamp)", False),
        ("cast('2024-02-29 24:00:00' as timestamp)", False),
        ("cast('2024-02-29 00:00:00+19:00' as timestamp)", False),
        ("cast('2023-02-29' as date)", False),
        ("cast('24-02-01' as date)", False),
        ("cast('x' as int)", False),
        ("cast('2024-02-29' as int)", False),
        ("null", False),
        ("upper('a')", False),
        ("-1", False),
        ("a", False),
        ("'a' || a", False),
        ("cast(a as string)", False),
    ],
)
def test_what_is_a_constant(text, constant):
    item = parse_model("m", f"select {text} as c from t").selects[0].this
    assert is_run_constant(Scalar(item)) == constant
