"""Lambda parameters and columns of the same name are never confused."""

from __future__ import annotations

import pytest

from sparkivm.algebra.spark_text import SparkText
from sparkivm.errors import NotIncremental
from sparkivm.frontend.lambdas import with_own_parameters
from sparkivm.frontend.parse import parse_model

OWN = {
    "transform(a, x -> x + t.x)": "TRANSFORM(a, __ivm_each_x -> __ivm_each_x + t.x)",
    "transform(a, x -> x.x)": "TRANSFORM(a, __ivm_each_x -> __ivm_each_x.x)",
    "transform(a, x -> transform(x, (x, i) -> x + i))": "TRANSFORM(a, __ivm_each_x -> TRANSFORM(__ivm_each_x, "
    "(__ivm_each_x, __ivm_each_i) -> __ivm_each_x + __ivm_each_i))",
    "transform(a, x -> cast(x as struct<x: int>))": "TRANSFORM(a, __ivm_each_x -> CAST(__ivm_each_x AS STRUCT<x: INT>))",
    "filter(a, x -> x > b)": "FILTER(a, __ivm_each_x -> __ivm_each_x > b)",
    "a + 1": "a + 1",
}


def test_a_parameter_in_another_case_is_refused():
    tree = parse_model("model", "select transform(a, X -> x + 1) as c from t").selects[0].this
    with pytest.raises(NotIncremental, match="x is a lambda parameter written in a different case"):
        with_own_parameters(tree)


@pytest.mark.parametrize("text", OWN)
def test_parameters_get_names_of_their_own(text):
    tree = parse_model("model", f"select {text} as c from t").selects[0].this
    before = tree.sql(dialect=SparkText)
    assert with_own_parameters(tree).sql(dialect=SparkText) == OWN[text]
    assert tree.sql(dialect=SparkText) == before
