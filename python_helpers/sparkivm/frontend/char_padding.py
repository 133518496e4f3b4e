"""CHAR(n): Spark pads such columns, or what they are compared with, to one length. We write this padding out.

A column is CHAR(n) only while it is passed on unchanged. In a delta it may be combined with a NULL, which
makes it a string, so Spark would not pad it. With c of CHAR(3) and d of CHAR(5):

  c = 'a'             c = 'a  '
  c = 'abcd'          rpad(c, 4, ' ') = 'abcd'
  c = d               rpad(c, 5, ' ') = d
  c IN ('a', 'abcd')  rpad(c, 4, ' ') IN ('a   ', 'abcd')

IN (SELECT …) and set operations pad nothing, so the lengths there have to be equal.

source  Spark's ApplyCharTypePadding; tested where it is silent (BETWEEN, NULLIF and PIVOT pad nothing)
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace

from sqlglot import exp

from sparkivm.algebra import Project, Relation, Scalar, Scan, UnionAll
from sparkivm.algebra.function_call import spark_name
from sparkivm.algebra.query import Query
from sparkivm.algebra.relation import rewrite
from sparkivm.algebra.sql_expression import expression
from sparkivm.errors import NotIncremental
from sparkivm.frontend.place import not_incremental
from sparkivm.reasons import Reason
from sparkivm.spark.data_types import SparkType

LengthOf = Callable[[str], int | None]

_COMPARISONS = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.NullSafeEQ, exp.NullSafeNEQ)
_PADDING_FUNCTIONS = ("decode", "equal_null")
_PASSED_ON = "passed_on"


def passing_on(scalar: Scalar, of: Scalar) -> Scalar:
    """An expression that Spark takes for a column of another one's type: a key of grouping sets."""
    if of.as_column is None:
        return scalar
    tree = scalar.tree.copy()
    tree.meta[_PASSED_ON] = of.as_column
    return Scalar(tree)


def char_length(relation: Relation, name: str, types: Mapping[str, SparkType]) -> int | None:
    """The length of a CHAR column; None for other columns.

    types  of the tables' columns
    """
    owner, source = relation.origin(name)
    if isinstance(owner, Scan):
        type_ = types.get(source)
        return None if type_ is None else type_.char_length
    if isinstance(owner, UnionAll):  # all branches have the same length
        return char_length(owner.inputs[0], source, types)
    if isinstance(owner, Project):
        item = dict(owner.items).get(source)
        below = None if item is None else item.tree.meta.get(_PASSED_ON)
        return None if below is None else char_length(owner.input, below, types)
    return None


def refuse_different_lengths(lengths: Collection[int | None], what: str, node: exp.Expr) -> None:
    """Raises: NotIncremental if one is a CHAR column and another has a different length, or is not CHAR."""
    if len(set(lengths)) > 1:
        shown = " and ".join("another value" if n is None else f"CHAR({n})" for n in dict.fromkeys(lengths))
        raise refused_of_char(f"{what} of {shown}", node)


def with_padding(query: Query, types: Mapping[str, SparkType]) -> Query:
    """The query with the padding of its comparisons written out.

    Raises: NotIncremental where we do not know how Spark pads.
    """
    if not any(type_.char_length for type_ in types.values()):
        return query

    def padded(node: Relation) -> Relation:
        def length_of(name: str) -> int | None:
            child = next((child for child in node.children if name in child.columns), None)
            return None if child is None else char_length(child, name, types)

        return node.with_scalars(lambda scalar: _padded(scalar, length_of))

    return replace(query, root=rewrite(query.root, padded))


def _padded(scalar: Scalar, length_of: LengthOf) -> Scalar:
    if not any(map(length_of, scalar.columns)):
        return scalar
    tree = scalar.tree.copy()
    for node in list(tree.walk()):
        if isinstance(node, _COMPARISONS):
            _pad_both(node, node.this, node.expression, length_of)
        elif isinstance(node, exp.In) and node.expressions:
            _pad_list(node, length_of)
        elif isinstance(node, exp.Case) and node.this is not None:
            for branch in node.args["ifs"]:
                _pad_both(node, node.this, branch.this, length_of)
        elif isinstance(node, exp.Func) and spark_name(node) in _PADDING_FUNCTIONS:
            lengths = [length_of(column.name) for column in node.find_all(exp.Column)]
            if any(lengths):
                raise refused_of_char(f"{spark_name(node).upper()} of CHAR", node)
    return Scalar(tree)


def _pad_both(comparison: exp.Expr, one: exp.Expr, other: exp.Expr, length_of: LengthOf) -> None:
    """Pad both sides, in place, to the length of the longer one, if one is a CHAR column."""
    lengths = _length(one, length_of), _length(other, length_of)
    if lengths == (None, None):
        return
    sides = []
    for side, length in zip((one, other), lengths, strict=True):
        if length is None and _text(side) is None:
            if _is_folded(side):
                raise refused_of_char("a comparison of CHAR with an expression of constants", comparison)
            return  # Spark pads nothing
        sides.append((side, length or len(_text(side) or "")))
    longest = max(length for _, length in sides)
    for side, length in sides:
        if length < longest:
            if isinstance(comparison, exp.Case) and side is one:
                raise refused_of_char(f"CASE of CHAR({length}) with a longer value", comparison)
            _pad(side, longest)


def _pad_list(node: exp.In, length_of: LengthOf) -> None:
    length = _length(node.this, length_of)
    if length is None:
        return
    values = [value for value in node.expressions if not isinstance(value.unnest(), exp.Null)]
    if any(_text(value) is None for value in values):
        raise refused_of_char("IN of CHAR with a list that holds more than string literals", node)
    longest = max([length, *(len(_text(value) or "") for value in values)])
    if length < longest:
        _pad(node.this, longest)
    for value in values:
        _pad(value, longest)


def _pad(operand: exp.Expr, length: int) -> None:
    text = _text(operand)
    if text is None:
        operand.replace(expression(f"rpad(c, {length}, ' ')", c=Scalar(operand)).tree.copy())
    else:
        operand.unnest().set("this", text.ljust(length))


def _length(node: exp.Expr, length_of: LengthOf) -> int | None:
    node = node.unnest()
    name = node.name if isinstance(node, exp.Column) else node.meta.get(_PASSED_ON)
    return None if name is None else length_of(name)


def _text(node: exp.Expr) -> str | None:
    """The text of a string literal; None if its length is not obvious, or for other nodes."""
    node = node.unnest()
    plain = isinstance(node, exp.Literal) and node.is_string and "\\" not in node.name
    return node.name if plain else None


def _is_folded(node: exp.Expr) -> bool:
    """Whether Spark may fold an expression to a text before the query runs."""
    node = node.unnest()
    number = isinstance(node, exp.Literal) and not node.is_string
    return not number and not isinstance(node, exp.Null) and node.find(exp.Column) is None


def refused_of_char(what: str, node: exp.Expr) -> NotIncremental:
    """The refusal of an expression whose padding by Spark we do not know."""
    return not_incremental(Reason.TYPE_NOT_SUPPORTED, f"{what}; cast the CHAR column to STRING", node)
