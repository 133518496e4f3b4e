"""Which scalar expressions may be part of delta SQL: deterministic, and printed faithfully.

An allow-list. Whether a query with them is read back faithfully is still checked against Spark for each
query version.
"""

from __future__ import annotations

from sqlglot import exp

from sparkivm.frontend.place import not_incremental
from sparkivm.reasons import Reason

_SYNTAX: tuple[type[exp.Expr], ...] = (
    exp.Add, exp.Alias, exp.And, exp.Between, exp.BitwiseAnd, exp.BitwiseNot, exp.BitwiseOr,
    exp.BitwiseXor, exp.Boolean, exp.Bracket, exp.Case, exp.Cast, exp.Column, exp.DPipe, exp.DataType,
    exp.DataTypeParam, exp.Div, exp.Dot, exp.EQ, exp.Escape, exp.GT, exp.GTE, exp.HexString, exp.ILike,
    exp.Identifier, exp.If, exp.In, exp.IntDiv, exp.Interval, exp.Is, exp.LT, exp.LTE, exp.Like,
    exp.Literal, exp.Mod, exp.Mul, exp.NEQ, exp.Neg, exp.Not, exp.Null, exp.NullSafeEQ, exp.NullSafeNEQ,
    exp.Or, exp.Paren, exp.PropertyEQ, exp.RegexpILike, exp.RegexpLike, exp.Slice, exp.Sub, exp.TryCast,
    exp.Tuple, exp.Var,
)  # fmt: skip

_FUNCTIONS: tuple[type[exp.Expr], ...] = (
    exp.Abs, exp.Acos, exp.AddMonths, exp.Array, exp.ArrayContains, exp.ArraySize, exp.Ascii, exp.Asin,
    exp.Atan, exp.Atan2, exp.Cbrt, exp.Ceil, exp.Chr, exp.Coalesce, exp.Concat, exp.ConcatWs, exp.Cos,
    exp.DateAdd, exp.DateDiff, exp.DateSub, exp.DateTrunc, exp.Day, exp.DayOfMonth, exp.DayOfWeek,
    exp.DayOfYear, exp.Exp, exp.Extract, exp.Floor, exp.Greatest, exp.Hex, exp.Hour, exp.Initcap,
    exp.LastDay, exp.Least, exp.Left, exp.Length, exp.Levenshtein, exp.Ln, exp.Log, exp.Lower, exp.MD5,
    exp.Map, exp.Minute, exp.Month, exp.MonthsBetween, exp.Nullif, exp.Nvl2, exp.Pad, exp.Pow,
    exp.Quarter, exp.RegexpExtract, exp.RegexpReplace, exp.Repeat, exp.Replace, exp.Reverse, exp.Right,
    exp.Round, exp.SHA, exp.SHA2, exp.Second, exp.Sign, exp.Sin, exp.Soundex, exp.Split, exp.Sqrt,
    exp.StrPosition, exp.StrToDate, exp.Struct, exp.Substring, exp.SubstringIndex, exp.Tan,
    exp.TimestampTrunc, exp.Translate, exp.Trim, exp.TsOrDsAdd, exp.TsOrDsDiff, exp.TsOrDsToDate,
    exp.Unhex, exp.Upper, exp.Week, exp.WeekOfYear, exp.Year,
)  # fmt: skip

_ACCEPTED = frozenset((*_SYNTAX, *_FUNCTIONS))

# Functions that the parser knows by name only; they are printed as they were written.
_NAMES = frozenset(
    """
    bit_length bround btrim char_length character_length contains conv crc32 date_from_unix_date
    degrees e elt endswith factorial find_in_set format_number hypot isnan isnull isnotnull lcase
    log1p log2 lpad ltrim make_date mod nanvl negative nvl octet_length overlay parse_url pi pmod
    positive power printf radians rint rpad rtrim sec shiftleft shiftright shiftrightunsigned sinh
    cosh tanh cot space startswith to_number ucase unix_date weekday width_bucket xxhash64 hash
    zeroifnull nullifzero try_add try_divide try_multiply try_subtract next_day
    """.split()
)

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
_NOT_DETERMINISTIC_CLASSES = (exp.Rand, exp.Randn, exp.Uuid)
_SESSION_CLASSES = (
    exp.CurrentDate, exp.CurrentTime, exp.CurrentTimestamp, exp.CurrentDatetime, exp.CurrentUser,
    exp.CurrentSchema, exp.CurrentDatabase, exp.CurrentCatalog, exp.CurrentTimezone, exp.SessionUser,
    exp.Localtime, exp.Localtimestamp,
)  # fmt: skip


def check_accepted(expression: exp.Expr) -> None:
    """Raise NotIncremental for the first part of an expression that may not stand in delta SQL."""
    for node in expression.walk():
        if type(node) in _ACCEPTED:
            continue
        name = function_name(node)
        if isinstance(node, _NOT_DETERMINISTIC_CLASSES) or name in _NOT_DETERMINISTIC:
            raise not_incremental(
                Reason.NON_DETERMINISTIC_EXPRESSION,
                f"{name} has another value each time it is computed",
                node,
            )
        if isinstance(node, _SESSION_CLASSES) or name in _OF_THE_SESSION:
            raise not_incremental(
                Reason.NON_DETERMINISTIC_EXPRESSION,
                f"{name} depends on the time or the session of the refresh",
                node,
            )
        if isinstance(node, exp.Anonymous) and name in _NAMES:
            continue
        what = (
            f"the function {name}"
            if isinstance(node, exp.Func)
            else f"the expression {node.sql(dialect='spark')}"
        )
        raise not_incremental(
            Reason.EXPRESSION_NOT_SUPPORTED, f"{what} is not known to keep its meaning in delta SQL", node
        )


def repeatable(tree: exp.Expr) -> bool:
    """Whether a query, incremental or not, has the same result each time; False where that is not known."""
    for node in tree.walk():
        name = function_name(node)
        if isinstance(node, (*_NOT_DETERMINISTIC_CLASSES, *_SESSION_CLASSES, exp.TableSample)):
            return False
        if name in _NOT_DETERMINISTIC or name in _OF_THE_SESSION:
            return False
        if isinstance(node, exp.Anonymous) and name not in _NAMES:
            return False  # a function of the user's
        if isinstance(node, exp.Table) and not isinstance(node.this, exp.Identifier):
            return False  # a table function reads what it wants
    return True


def function_name(node: exp.Expr) -> str:
    """A function's name in lower case; of anything else the name of its class."""
    if isinstance(node, exp.Anonymous):
        return str(node.this).lower()
    if isinstance(node, exp.Func):
        return node.sql_name().lower()
    return type(node).__name__.lower()
