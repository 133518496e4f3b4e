"""Which scalar expressions may be part of delta SQL: deterministic, and printed faithfully.

An allow-list. We still compare our reading of a query with Spark's, once for each
query version.
"""

from __future__ import annotations

import re

from sqlglot import exp

from sparkivm.algebra.function_call import spark_name
from sparkivm.algebra.spark_functions import AGGREGATE_FUNCTIONS, SCALAR_FUNCTIONS, TABLE_FUNCTIONS
from sparkivm.algebra.spark_text import SparkText
from sparkivm.frontend.moving_texts import moves, moving_word
from sparkivm.frontend.place import not_deterministic, not_incremental
from sparkivm.reasons import Reason

_SYNTAX: tuple[type[exp.Expr], ...] = (
    exp.Add, exp.Alias, exp.All, exp.And, exp.Any, exp.Between, exp.BitwiseAnd, exp.BitwiseLeftShift,
    exp.BitwiseNot, exp.BitwiseOr, exp.BitwiseRightShift, exp.BitwiseXor, exp.Boolean, exp.Bracket,
    exp.Case, exp.Cast, exp.Column, exp.ColumnDef, exp.DataType, exp.DataTypeParam, exp.Div, exp.Dot,
    exp.DPipe, exp.EQ, exp.Escape, exp.GT, exp.GTE, exp.HexString, exp.Identifier, exp.If, exp.ILike, exp.In,
    exp.IntDiv, exp.Interval, exp.IntervalSpan, exp.Is, exp.JSONPath, exp.JSONPathKey, exp.JSONPathRoot,
    exp.JSONPathSubscript, exp.JSONPathWildcard, exp.Lambda, exp.Like, exp.Literal, exp.LT, exp.LTE, exp.Mod,
    exp.Mul, exp.Neg, exp.NEQ, exp.Not, exp.Null, exp.NullSafeEQ, exp.NullSafeNEQ, exp.Or, exp.Paren,
    exp.Placeholder, exp.PropertyEQ, exp.RawString, exp.RegexpILike, exp.RegexpLike, exp.Slice, exp.Sub,
    exp.TryCast, exp.Tuple, exp.Var,
)  # fmt: skip

_FUNCTIONS: tuple[type[exp.Expr], ...] = (
    exp.Abs, exp.Acos, exp.AddMonths, exp.Array, exp.ArrayContains, exp.ArraySize, exp.Ascii, exp.Asin,
    exp.Atan, exp.Atan2, exp.Cbrt, exp.Ceil, exp.Chr, exp.Coalesce, exp.Concat, exp.ConcatWs, exp.Cos,
    exp.DateAdd, exp.DateDiff, exp.DateSub, exp.DateTrunc, exp.Day, exp.DayOfMonth, exp.DayOfWeek,
    exp.DayOfYear, exp.Exists, exp.Exp, exp.Extract, exp.Floor, exp.Greatest, exp.Hex, exp.Hour, exp.Initcap,
    exp.LastDay, exp.Least, exp.Left, exp.Length, exp.Levenshtein, exp.Ln, exp.Log, exp.Lower, exp.Map,
    exp.MD5, exp.Minute, exp.Month, exp.MonthsBetween, exp.Nullif, exp.Nvl2, exp.Pad, exp.Pow,
    exp.Quarter, exp.RegexpExtract, exp.RegexpReplace, exp.Repeat, exp.Replace, exp.Reverse, exp.Right,
    exp.Round, exp.Second, exp.SHA, exp.SHA2, exp.Sign, exp.Sin, exp.Soundex, exp.Space, exp.Split,
    exp.Sqrt, exp.StrPosition, exp.StrToDate, exp.Struct, exp.Substring, exp.SubstringIndex, exp.Tan,
    exp.TimestampAdd, exp.TimestampTrunc, exp.TimeStrToTime, exp.Translate, exp.Trim, exp.TsOrDsAdd,
    exp.TsOrDsDiff, exp.TsOrDsToDate, exp.Unhex, exp.UnixDate, exp.Upper, exp.Week, exp.WeekOfYear,
    exp.Year,
)  # fmt: skip

_ACCEPTED = frozenset((*_SYNTAX, *_FUNCTIONS))

_REPEATABLE_FUNCTIONS = SCALAR_FUNCTIONS | AGGREGATE_FUNCTIONS | TABLE_FUNCTIONS

_CALL = re.compile(r"(\w+)\(")

_NOT_DETERMINISTIC = frozenset(
    """
    rand random randn uuid monotonically_increasing_id spark_partition_id input_file_name
    input_file_block_start input_file_block_length shuffle randstr uniform reflect java_method
    try_reflect
    """.split()
)
_OF_THE_SESSION = frozenset(
    """
    current_date curdate current_timestamp now localtimestamp current_time current_timezone
    current_user user session_user current_catalog current_database current_schema is_member
    is_account_group_member version
    """.split()
)
# A name that is not a column of FROM: Spark takes it for one of these functions before anything else.
WITHOUT_PARENTHESES = frozenset(
    """
    current_date current_timestamp localtimestamp current_time current_user user session_user
    current_catalog current_database current_schema grouping__id
    """.split()
)
_NOW_BY_DEFAULT = ("unix_timestamp", "to_unix_timestamp")


def check_accepted(expression: exp.Expr) -> None:
    """Raise NotIncremental for the first part of an expression that delta SQL may not contain."""
    for node in expression.walk():
        if moves(node):
            raise not_deterministic("the literal depends on the time of the refresh", node)
        if isinstance(node, (exp.Any, exp.All)) and not _quantifies_like(node):
            raise not_incremental(
                Reason.EXPRESSION_NOT_SUPPORTED,
                "ANY and ALL are supported only after LIKE; for the aggregate ANY write BOOL_OR, "
                "for a comparison with a subquery write EXISTS or NOT EXISTS",
                node,
            )
        if type(node) in _ACCEPTED:
            continue
        name = function_name(node)
        if name in _NOT_DETERMINISTIC:
            raise not_deterministic(f"{name} returns a different value each time it is computed", node)
        if _of_the_session(node, name):
            raise not_deterministic(f"{name} depends on the time or the session of the refresh", node)
        if isinstance(node, exp.Func) and _printed_name(node) in SCALAR_FUNCTIONS:
            continue
        what = (
            f"the function {name}"
            if isinstance(node, exp.Func)
            else f"the expression {node.sql(dialect='spark')}"
        )
        raise not_incremental(
            Reason.EXPRESSION_NOT_SUPPORTED,
            f"{what} is not on the list of supported functions and expressions",
            node,
        )


def repeatable(tree: exp.Expr) -> bool:
    """Whether a query, incremental or not, has the same result each time; False where we cannot tell."""
    for node in tree.walk():
        name = function_name(node)
        if moving_word(node):
            return False
        if isinstance(node, (exp.TableSample, exp.QueryTransform)):
            return False  # TRANSFORM runs a program
        if name in _NOT_DETERMINISTIC or _of_the_session(node, name):
            return False
        if isinstance(node, exp.Column) and len(node.parts) == 1 and node.name.lower() in _OF_THE_SESSION:
            return False  # unless it is a column
        if isinstance(node, exp.Anonymous) and name not in _REPEATABLE_FUNCTIONS:
            return False  # a user-defined function
        if (
            isinstance(node, exp.Table)
            and not isinstance(node.this, exp.Identifier)
            and spark_name(node.this) not in TABLE_FUNCTIONS
        ):
            return False  # a table function that may read anything
    return True


def _of_the_session(node: exp.Expr, name: str) -> bool:
    return name in _OF_THE_SESSION or (name in _NOW_BY_DEFAULT and not node.expressions)


def _quantifies_like(node: exp.Expr) -> bool:
    """Whether ANY or ALL stands between LIKE and its patterns. Elsewhere Spark takes ANY for an aggregate."""
    return isinstance(node.parent, (exp.Like, exp.ILike)) and node.arg_key == "expression"


def _printed_name(node: exp.Func) -> str:
    """The function name that the parser prints for a call, in lower case; "" if it prints no call."""
    call = _CALL.match(node.sql(dialect=SparkText))
    return call[1].lower() if call else ""


def function_name(node: exp.Expr) -> str:
    """A function's name in lower case; for any other node the name of its class."""
    if isinstance(node, exp.Anonymous):
        return str(node.this).lower()
    if isinstance(node, exp.Func):
        return node.sql_name().lower()
    return type(node).__name__.lower()
