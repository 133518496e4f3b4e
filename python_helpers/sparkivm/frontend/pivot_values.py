"""The values of PIVOT: Spark casts each to the type of the column that it is compared with.

A plain comparison would cast both to a common type: '01' and 1 are equal as numbers, but not as strings.
"""

from __future__ import annotations

from sqlglot import exp

from sparkivm.algebra import Scalar
from sparkivm.algebra.sql_expression import expression
from sparkivm.frontend.place import not_understood
from sparkivm.spark.data_types import SparkType

_END_OF_WHOLE_NUMBERS = {exp.DataType.Type.INT: 2**31, exp.DataType.Type.BIGINT: 2**63}
_UNCLEAR = ("", "char", "time", "void")  # CHAR may be padded; the parser lacks the other three
_DATES_AND_TIMES = (exp.DataType.Type.DATE, exp.DataType.Type.TIMESTAMPTZ, exp.DataType.Type.TIMESTAMPNTZ)


def is_value(key: exp.Expr, value: exp.Expr, type_: SparkType | None) -> exp.Expr:
    """A predicate: the key has the value.

    type_  of the key, if it is known; otherwise it may be a string, and numbers and dates compare differently
           as strings
    Raises: NotIncremental if the comparison depends on the type.
    """
    pair = {"k": Scalar(key), "v": Scalar(value)}
    if isinstance(value, exp.Null):
        return expression("k <=> v", **pair).tree
    if type_ is None:
        if _is_string(value):
            return expression("k <=> v", **pair).tree
        if _whole_number(value) is None and not isinstance(value, exp.Boolean) and not _is_of_time(value):
            raise not_understood("a value of PIVOT for a column whose type is not known", value)
        text = "if(typeof(k) = 'string', cast(k as string) <=> cast(v as string), k <=> v)"
        return expression(text, **pair).tree
    if type_.word in _UNCLEAR:
        raise not_understood(f"a value of PIVOT for a column of the type {type_}", value)
    known = exp.DataType.build(type_.in_queries.cast_text, dialect="spark")
    if not _is_of(value, known):
        pair["v"] = Scalar(exp.Cast(this=value.copy(), to=known))
    return expression("k <=> v", **pair).tree


def _is_of(value: exp.Expr, type_: exp.DataType) -> bool:
    """Whether a literal has a type without a cast."""
    if type_.is_type(exp.DataType.Type.TEXT):
        return _is_string(value)
    if type_.is_type(exp.DataType.Type.BOOLEAN):
        return isinstance(value, exp.Boolean)
    if type_.is_type(*_DATES_AND_TIMES):
        return _is_of_time(value) and value.args["to"].this == type_.this
    number = _whole_number(value)
    return number is not None and abs(number) < _END_OF_WHOLE_NUMBERS.get(type_.this, 0)


def _is_string(value: exp.Expr) -> bool:
    return isinstance(value, exp.Literal) and value.is_string


def _is_of_time(value: exp.Expr) -> bool:
    """Whether a value is written as `DATE '…'` or `TIMESTAMP '…'`."""
    return isinstance(value, exp.Cast) and value.to.is_type(*_DATES_AND_TIMES) and _is_string(value.this)


def _whole_number(value: exp.Expr) -> int | None:
    number = value.this if isinstance(value, exp.Neg) else value
    if not isinstance(number, exp.Literal) or number.is_string or not number.this.isdigit():
        return None
    return int(number.this) * (-1 if number is not value else 1)
