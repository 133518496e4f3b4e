"""What passes ask an operator: no operator can omit an answer, and its expressions can be replaced."""

from __future__ import annotations

import pytest

from sparkivm.algebra import (
    Aggregate,
    Call,
    Filter,
    Generate,
    InnerJoin,
    JoinCondition,
    Keys,
    LeftJoin,
    Lookup,
    Ordering,
    Pair,
    Project,
    Relation,
    Restricted,
    Scalar,
    Scan,
    Slice,
    Window,
    WindowCall,
)
from sparkivm.algebra.inputs import NoInput, OneInput, TwoSides
from sparkivm.algebra.linear import Linear
from sparkivm.algebra.project import only
from sparkivm.algebra.relation import Derived
from sparkivm.algebra.scalar import column
from sparkivm.algebra.sql_expression import expression
from tests.laws.operators import OPERATORS as OF_LAWS
from tests.laws.operators import over_a_table, zsets

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
    found = node.scalars
    assert [scalar.sql("spark") for scalar in found] == texts
    assert node.with_scalars(lambda scalar: scalar) is node

    def renamed(scalar: Scalar) -> Scalar:
        return scalar.rename({"x": "p", "y": "q", "z": "r"})

    assert node.with_scalars(renamed).scalars == [renamed(scalar) for scalar in found]


def test_a_window_of_which_only_rows_are_read_is_left_out():
    """No row depends on a partition then, and its columns are not read."""
    window, _ = OPERATORS["window"]
    (read,), made = window.pruned(frozenset({"y"}))
    assert (read, made((A,))) == ({"y"}, A)


def test_a_slice_is_shown_by_what_is_looked_up():
    lookups = (Lookup(B, (Pair("x", "z"), Pair("y", "z"))), Lookup(B, (Pair("y", "z"),)))
    assert Slice(A, lookups).label == "Slice by x, y or y"


NODES: dict[str, Relation] = {
    **{name: over_a_table(name) for name in OF_LAWS},
    **zsets(),
    "restricted": Restricted(A, Keys.of(B, [("x", "z")])),
}


@pytest.mark.parametrize("node", NODES.values(), ids=NODES)
def test_an_operator_over_other_inputs_is_the_same_but_for_these(node):
    """Keys with which rows are compared are an input too."""
    others = tuple(only(child, child.columns) for child in node.children)
    made = node.with_children(others)
    assert made.children == others
    assert (made.label, made.columns, made.scalars) == (node.label, node.columns, node.scalars)


class _Whole(Filter):
    """An operator with all answers."""


@pytest.mark.parametrize("answer", sorted(Relation.__abstractmethods__))
def test_an_operator_that_lacks_an_answer_cannot_be_made(answer):
    lacking = type("Lacking", (_Whole,), {answer: getattr(Relation, answer)})
    assert _Whole(A, BOTH)
    with pytest.raises(TypeError, match=f"abstract method '?{answer}"):
        lacking(A, BOTH)


@pytest.mark.parametrize("kind", [NoInput, OneInput, TwoSides, Linear, Derived])
def test_what_operators_have_in_common_answers_nothing_for_them(kind):
    """Except for what follows from the number of inputs or from the delta rule."""
    own = {"monotone", "at_most_one_row", "label", "map_scalars", "pruned"}
    assert own <= kind.__abstractmethods__
