"""Struct fields that Spark names after columns keep the query's names, whatever the plan calls the columns."""

from __future__ import annotations

import pytest

from sparkivm.algebra.spark_text import SparkText
from sparkivm.reasons import Reason
from tests.reading import assert_refused, read

# The plan calls `y` k_2.
FROM = "from (select r.k as x, s.k as y, array(s.a) as zs from r, s) as q"
NAMED = {
    "(x, q.y, x + 1)": "STRUCT(`k` AS `x`, `k_2` AS `y`, `k` + 1 AS `col3`)",
    "to_json((y, (x, 1)))": "TO_JSON(STRUCT(`k_2` AS `y`, STRUCT(`k` AS `x`, 1 AS `col2`) AS `col2`))",
    "(y, 1) in ((1, 2), (x, 2))": "(`k_2`, 1) IN ((1, 2), (`k`, 2))",
    "(x, y) = (1, 2)": "(`k`, `k_2`) = (1, 2)",
    "arrays_zip(Zs)": "TRANSFORM(`zs`, __ivm_value -> STRUCT(__ivm_value AS `Zs`))",
    "arrays_zip(q.zs, array(y))": "ZIP_WITH(TRANSFORM(`zs`, __ivm_value -> STRUCT(__ivm_value AS `zs`)), ARRAY(`k_2`), "
    "(__ivm_zipped, __ivm_value) -> STRUCT(__ivm_zipped.`zs` AS `zs`, __ivm_value AS `1`))",
    "transform(array(zs), e -> arrays_zip(e))": "TRANSFORM(ARRAY(`zs`), __ivm_each_e -> "
    "TRANSFORM(__ivm_each_e, __ivm_value -> STRUCT(__ivm_value AS `e`)))",
    "transform(zs, e -> struct(e, y as e, e as y))": "TRANSFORM(`zs`, __ivm_each_e -> "
    "STRUCT(__ivm_each_e AS e, `k_2` AS e, __ivm_each_e AS y))",
}


@pytest.mark.parametrize("text", NAMED)
def test_fields_have_the_names_of_the_query(text):
    query = read(f"select {text} as v {FROM}")
    (found,) = [scalar for name, scalar in query.root.items if name == query.output[0]]
    assert found.sql(SparkText) == NAMED[text]


@pytest.mark.parametrize(
    ("text", "detail"),
    [
        ("arrays_zip(zs, Q.ZS)", "do not have distinct names"),
        ("arrays_zip()", "do not have distinct names"),
        ("arrays_zip(named_struct('a', zs).a)", "write named_struct"),
        ("to_json((x, map('a', y)['a']))", "write named_struct"),
        ("to_json((x as z, 1))", "write named_struct"),
    ],
)
def test_fields_whose_names_are_not_known(text, detail):
    assert_refused(f"select {text} as v {FROM}", Reason.OPERATOR_NOT_SUPPORTED, detail)
