"""The expressions of each operator are those that can be changed in it."""

from __future__ import annotations

import pytest

from sparkivm.algebra import (
    Aggregate,
    Call,
    Filter,
    Generate,
    InnerJoin,
    JoinCondition,
    LeftJoin,
    Ordering,
    Pair,
    Project,
    Scalar,
    Scan,
    Window,
    WindowCall,
)
from sparkivm.algebra.scalar import column
from sparkivm.algebra.scalars_of import scalars_of, with_scalars
from sparkivm.algebra.sql_expression import expression

A, B = Scan("a", (("x", "x"), ("y", "y"))), Scan("b", (("z", "z"),))
BOTH = expression("x = z and y > z", x="x", y="y", z="z")
OPERATORS = {
    "filter": (Filter(A, expression("x > 1 and y > 2", x="x", y="y")), ["`x` > 1", "`y` > 2"]),
    "inner_join": (InnerJoin((A, B), (BOTH,)), ["`x` = `z`", "`y` > `z`"]),
    "left_join": (
        LeftJoin(A, B, JoinCondition((Pair("x", "z"),), (expression("y > z", y="y", z="z"),))),
        ["`x` = `z`", "`y` > `z`"],
    ),
    "project": (Project(A, (("x", column("x")), ("c", expression("y + 1", y="y")))), ["`x`", "`y` + 1"]),
    "aggregate": (Aggregate(A, ("x",), (Call("n", "count_rows"), Call("s", "sum", column("y")))), ["`y`"]),
    "window": (
        Window(A, ("x",), (WindowCall("r", expression("rank()"), (Ordering(column("y"), False, True),)),)),
        ["RANK()", "`y`"],
    ),
    "generate": (Generate(A, expression("explode(x)", x="x"), ("e",)), ["EXPLODE(`x`)"]),
    "scan": (A, []),
}


@pytest.mark.parametrize(("node", "texts"), OPERATORS.values(), ids=OPERATORS)
def test_what_an_operator_holds_can_be_changed(node, texts):
    found = scalars_of(node)
    assert [scalar.sql("spark") for scalar in found] == texts
    assert with_scalars(node, lambda scalar: scalar) is node

    def renamed(scalar: Scalar) -> Scalar:
        return scalar.rename({"x": "p", "y": "q", "z": "r"})

    assert scalars_of(with_scalars(node, renamed)) == [renamed(scalar) for scalar in found]
