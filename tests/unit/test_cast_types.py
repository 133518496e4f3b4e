"""Types as CAST takes them."""

from __future__ import annotations

import pytest

from sparkivm.plan.cast_types import cast_type


@pytest.mark.parametrize(
    "type_", ["int", "decimal(10,2)", "struct<>", "array<string>", "struct<a:int,b_2:decimal(10,2)>"]
)
def test_plain_types_stay(type_):
    assert cast_type(type_) == type_


@pytest.mark.parametrize(
    ("type_", "wanted"),
    [
        ("struct<first name:int>", "struct<`first name`:int>"),
        ("struct<a:int,event-time:timestamp>", "struct<a:int,`event-time`:timestamp>"),
        (
            "map<string,array<struct<x:decimal(10,2),b`c:struct<d.e:int>>>>",
            "map<string,array<struct<x:decimal(10,2),`b``c`:struct<`d.e`:int>>>>",
        ),
    ],
)
def test_names_that_need_backticks(type_, wanted):
    assert cast_type(type_) == wanted
