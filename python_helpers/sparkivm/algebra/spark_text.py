"""sqlglot's Spark dialect, which prints typed literals as written: `DATE '…'` does not become a CAST."""

from __future__ import annotations

from itertools import pairwise
from typing import ClassVar, cast

from sqlglot import exp
from sqlglot.dialects.spark import Spark
from sqlglot.tokenizer_core import Token, TokenType

from sparkivm.algebra.spark_functions import AGGREGATE_FUNCTIONS, SCALAR_FUNCTIONS

# TRANSFORM (…) USING and OVERLAY(… PLACING … FROM …) have a syntax of their own.
_WORD_FOR_WORD = (SCALAR_FUNCTIONS | AGGREGATE_FUNCTIONS) - {"transform", "overlay"}
_ALIASED_OUTSIDE = "aliased_outside"
_TYPED_LITERALS = {
    exp.DataType.Type.DATE: "DATE",
    exp.DataType.Type.TIMESTAMPTZ: "TIMESTAMP",
    exp.DataType.Type.TIMESTAMPLTZ: "TIMESTAMP_LTZ",
    exp.DataType.Type.TIMESTAMPNTZ: "TIMESTAMP_NTZ",
}


class SparkText(Spark):
    """Spark SQL. CAST in the text is parsed to TryCast, so a Cast of a string is a typed literal."""

    class Tokenizer(Spark.Tokenizer):
        # 'it''s' and "5"" pipe", since Spark 4
        STRING_ESCAPES = [*Spark.Tokenizer.STRING_ESCAPES, "'", '"']  # noqa: RUF012

        def tokenize(self, sql: str) -> list[Token]:
            """WINDOW before a parenthesis is a function, elsewhere the clause that names windows."""
            tokens: list[Token] = super().tokenize(sql)
            for token, following in pairwise(tokens):
                if token.token_type is TokenType.WINDOW and following.token_type is TokenType.L_PAREN:
                    token.token_type = TokenType.VAR
            return tokens

    class Parser(Spark.Parser):  # type: ignore[misc, valid-type]
        FUNCTIONS = {  # noqa: RUF012  # as in sqlglot's parsers
            name: build
            for name, build in Spark.Parser.FUNCTIONS.items()
            if name.lower() not in _WORD_FOR_WORD
        }
        FUNCTION_PARSERS = {  # noqa: RUF012
            name: parse
            for name, parse in Spark.Parser.FUNCTION_PARSERS.items()
            if name.lower() not in _WORD_FOR_WORD
        }

        def _parse_derived_table_values(self, allow_value_synonym: bool = False) -> exp.Values | None:
            """`(VALUES …) AS t` keeps its parentheses, because they change Spark's plan."""
            if not self._match_pair(TokenType.L_PAREN, TokenType.VALUES, advance=False):
                return cast("exp.Values | None", super()._parse_derived_table_values(allow_value_synonym))
            self._match_pair(TokenType.L_PAREN, TokenType.VALUES)
            values = exp.Values(
                expressions=self._parse_csv(self._parse_value), alias=self._parse_table_alias()
            )
            self._match_r_paren()
            outside = self._parse_table_alias()
            if outside is not None:
                values.set("alias", outside)
                values.meta[_ALIASED_OUTSIDE] = True
            return values

    class Generator(Spark.Generator):  # type: ignore[misc, valid-type]  # made by sqlglot's metaclass
        # A WITH stays where it is; further out its names could mean other relations.
        EXPRESSIONS_WITHOUT_NESTED_CTES: ClassVar[set[type[exp.Expr]]] = set()
        TRANSFORMS = {  # noqa: RUF012  # as in sqlglot's generators
            node: transform
            for node, transform in Spark.Generator.TRANSFORMS.items()
            if node not in (exp.TsOrDsToDate, exp.BitwiseLeftShift, exp.BitwiseRightShift, exp.From)
        }

        def tsordstodate_sql(self, expression: exp.TsOrDsToDate) -> str:
            """A format is kept even if it is the default: without it Spark casts, accepting more texts."""
            if expression.args.get("format"):
                return str(self.func("TO_DATE", expression.this, self.format_time(expression)))
            return str(Spark.Generator.TRANSFORMS[exp.TsOrDsToDate](self, expression))

        def values_sql(self, expression: exp.Values, values_as_table: bool = True) -> str:
            if not expression.meta.get(_ALIASED_OUTSIDE) or expression.args.get("pivots"):
                return str(super().values_sql(expression, values_as_table))
            rows = exp.Values(expressions=[row.copy() for row in expression.expressions])
            return f"({super().values_sql(rows)}) AS {self.sql(expression, 'alias')}"

        def localtimestamp_sql(self, expression: exp.Localtimestamp) -> str:
            """Without parentheses it would be a column."""
            return "LOCALTIMESTAMP()"

        def cast_sql(self, expression: exp.Cast, safe_prefix: str | None = None) -> str:
            word = _TYPED_LITERALS.get(expression.to.this)
            literal = expression.this
            if (
                type(expression) is exp.Cast
                and word
                and isinstance(literal, exp.Literal)
                and literal.is_string
            ):
                return f"{word} {self.sql(literal)}"
            text: str = super().cast_sql(expression, safe_prefix)
            return text
