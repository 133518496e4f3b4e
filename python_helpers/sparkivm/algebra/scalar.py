"""Scalar expressions: sqlglot trees whose columns are resolved to the columns of a relation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Literal

from sqlglot import exp

from sparkivm.algebra.spark_text import SparkText

Dialect = Literal["spark", "duckdb"]
_INTEGERS = {"int": range(-(2**31), 2**31), "bigint": range(-(2**63), 2**63)}  # larger literals are DECIMAL


class Scalar:
    """An expression over the columns of one relation. Every column in it is a bare, quoted, unique name.

    Two scalars are equal if their Spark texts are. The tree is never changed in place.
    """

    def __init__(self, tree: exp.Expr) -> None:
        self.tree = tree
        self._texts: dict[str, str] = {}

    def sql(self, dialect: Dialect) -> str:
        text = self._texts.get(dialect)
        if text is None:
            text = self._texts[dialect] = _printed(self.tree, dialect)
        return text

    @cached_property
    def columns(self) -> frozenset[str]:
        """Names of the columns that it reads."""
        return frozenset(column.name for column in self.tree.find_all(exp.Column))

    @property
    def as_column(self) -> str | None:
        """The column's name if the expression is just a column."""
        return self.tree.name if isinstance(self.tree, exp.Column) else None

    def substitute(self, replacements: Mapping[str, Scalar]) -> Scalar:
        """The expression with columns replaced by the expressions that define them."""
        if not self.columns & replacements.keys():
            return self
        if self.as_column is not None:
            return replacements[self.as_column]
        return Scalar(
            replace_nodes(
                self.tree,
                lambda node: (
                    as_operand(replacements[node.name].tree)
                    if isinstance(node, exp.Column) and node.name in replacements
                    else None
                ),
            )
        )

    def rename(self, names: Mapping[str, str]) -> Scalar:
        return self.substitute({old: column(new) for old, new in names.items()})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Scalar) and self.sql("spark") == other.sql("spark")

    def __hash__(self) -> int:
        return hash(self.sql("spark"))

    def __repr__(self) -> str:
        return f"Scalar({self.sql('spark')})"


_QUOTES: Mapping[Dialect, str] = {"spark": "`", "duckdb": '"'}


def _printed(tree: exp.Expr, dialect: Dialect) -> str:
    if isinstance(tree, exp.Column) and len(tree.parts) <= 2:
        # A fast path for most expressions: the generator copies the tree and is slower.
        quote = _QUOTES[dialect]
        alias = f"{tree.table}." if tree.table else ""
        return alias + quote + tree.name.replace(quote, quote * 2) + quote
    return tree.sql(dialect=SparkText if dialect == "spark" else dialect)


def replace_nodes(tree: exp.Expr, replacement: Callable[[exp.Expr], exp.Expr | None]) -> exp.Expr:
    """A copy of `tree` with each topmost node replaced that has a replacement; operands get parentheses."""

    def visit(node: exp.Expr) -> exp.Expr:
        new = replacement(node)
        if new is None:
            return node
        new = new.copy()
        inside_operator = node.parent is not None and isinstance(
            new, (exp.Binary, exp.Unary, exp.Between, exp.In, exp.Case)
        )
        return exp.Paren(this=new) if inside_operator and not isinstance(new, (exp.Paren, exp.Dot)) else new

    return tree.transform(visit)


def as_operand(definition: exp.Expr) -> exp.Expr:
    """The definition of a column, to be written in the column's place within an expression.

    Beside a DECIMAL, Spark counts the digits of an integer literal, but takes those of the type for a column:
    `d / 3` has another scale than `d / n`. So a literal becomes a cast.
    """
    literal = definition.unnest()
    if not literal.is_int:
        return definition
    type_ = next((type_ for type_, values in _INTEGERS.items() if int(literal.to_py()) in values), None)
    return definition if type_ is None else exp.cast(literal, type_)


def is_literal(tree: exp.Expr) -> bool:
    """Whether it is a number, text, truth value or NULL."""
    unsigned = tree.this if isinstance(tree, exp.Neg) else tree
    return isinstance(unsigned, (exp.Literal, exp.Boolean, exp.Null))


def column(name: str, alias: str | None = None) -> Scalar:
    """A column; `alias`, a plain word, is only for printed text: the algebra needs none."""
    table = None if alias is None else exp.Identifier(this=alias)
    return Scalar(exp.Column(this=exp.Identifier(this=name, quoted=True), table=table))


def integer(value: int) -> Scalar:
    return Scalar(exp.Literal.number(value))


def null() -> Scalar:
    return Scalar(exp.Null())


def equal(left: str, right: str, null_safe: bool = False) -> Scalar:
    make = exp.NullSafeEQ if null_safe else exp.EQ
    return Scalar(make(this=column(left).tree, expression=column(right).tree))


def opaque(comparison: Scalar) -> Scalar:
    """The same comparison of two columns, written so that no rule recognizes it as an equality."""
    tree = comparison.tree.copy()
    tree.set("expression", exp.Coalesce(this=tree.expression, expressions=[]))
    return Scalar(tree)


def is_not_null(name: str) -> Scalar:
    return Scalar(exp.Not(this=exp.Is(this=column(name).tree, expression=exp.Null())))


def conjuncts(predicate: Scalar) -> tuple[Scalar, ...]:
    """The operands of the topmost AND."""

    def split(tree: exp.Expr) -> Iterable[exp.Expr]:
        if isinstance(tree, exp.And):
            yield from split(tree.this)
            yield from split(tree.expression)
        elif isinstance(tree, exp.Paren):
            yield from split(tree.this)
        else:
            yield tree

    return tuple(Scalar(tree) for tree in split(predicate.tree))


def conjunction(predicates: Iterable[Scalar]) -> Scalar | None:
    """The conjunction of `predicates`; None if there are none."""
    trees = [_operand(predicate.tree) for predicate in predicates]
    if not trees:
        return None
    result = trees[0]
    for tree in trees[1:]:
        result = exp.And(this=result, expression=tree)
    return Scalar(result)


def disjunction(predicates: Sequence[Scalar]) -> Scalar:
    """The disjunction of `predicates`; there is at least one."""
    trees = [predicate.tree for predicate in predicates]
    result = trees[0]
    for tree in trees[1:]:
        result = exp.Or(this=result, expression=tree)
    return Scalar(result)


def _operand(tree: exp.Expr) -> exp.Expr:
    return exp.Paren(this=tree) if isinstance(tree, (exp.Or, exp.Xor)) else tree


def equality(predicate: Scalar) -> tuple[str, str, bool] | None:
    """(column, column, null-safe) if the predicate compares two columns for equality."""
    tree = predicate.tree
    if isinstance(tree, (exp.EQ, exp.NullSafeEQ)):
        left, right = Scalar(tree.this).as_column, Scalar(tree.expression).as_column
        if left and right:
            return left, right, isinstance(tree, exp.NullSafeEQ)
    return None
