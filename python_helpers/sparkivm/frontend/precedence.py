"""Operators without parentheses for which Spark's precedence differs from the parser's.

Spark's grammar has one level each for `<<`, `&`, `^` and `|`, puts `||` on the level of `+`, and reads
`a = b IN (…)` as `(a = b) IN (…)`. The parser groups these differently but prints the same text, so comparing
texts cannot find the difference. We refuse such SQL.

source  valueExpression, predicate and booleanExpression in Spark's SqlBaseParser.g4
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from sparkivm.frontend.place import not_understood

# Tightest binding first.
_OPERATORS: tuple[tuple[type[exp.Expr], ...], ...] = (
    (exp.Neg, exp.BitwiseNot),
    (exp.Mul, exp.Div, exp.Mod, exp.IntDiv),
    (exp.Add, exp.Sub, exp.DPipe),
    (exp.BitwiseLeftShift, exp.BitwiseRightShift),
    (exp.BitwiseAnd,),
    (exp.BitwiseXor,),
    (exp.BitwiseOr,),
    (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE),
    (
        exp.Between, exp.In, exp.Is, exp.Like, exp.ILike, exp.RegexpLike, exp.RegexpILike, exp.Escape,
        exp.NullSafeEQ, exp.NullSafeNEQ,
    ),
    (exp.Not,),
    (exp.And,),
    (exp.Or,),
)  # fmt: skip
_LEVELS = {operator: level for level, operators in enumerate(_OPERATORS, 1) for operator in operators}
_PREDICATES = _LEVELS[exp.In]
_ASSOCIATIVE = (exp.And, exp.Or)


def refuse_other_precedence(tree: exp.Expr) -> None:
    """Raises: NotIncremental for the first operator whose operands Spark groups differently."""
    for node in tree.walk():
        level = _LEVELS.get(type(node))
        if level is None:
            continue
        for operand, most in _operands(node, level):
            if _LEVELS.get(type(operand), 0) > most:
                raise not_understood(
                    f"{node.sql(dialect='spark')} without parentheses is read differently by Spark; add some",
                    node,
                )


def _operands(node: exp.Expr, level: int) -> Iterator[tuple[exp.Expr, int]]:
    """The operands of an operator, and the highest level that each may have without parentheses."""
    first, second = node.this, node.args.get("expression")
    if isinstance(node, exp.Escape):
        return
    if level == _PREDICATES:
        yield first, level - 1
        rest = (second, node.args.get("low"), node.args.get("high"))
        yield from ((operand, level - 1) for operand in rest if isinstance(operand, exp.Expr))
    else:
        yield first, level
        if isinstance(second, exp.Expr):
            yield second, level if isinstance(node, _ASSOCIATIVE) else level - 1
