"""The rows of each VALUES in a text, as they are written.

Spark's plans do not show them, so refresh/model/gate.py compares them in a query of their own.

tested  tests/unit/test_values_rows.py
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot.tokenizer_core import Token, TokenType

from sparkivm.algebra.spark_text import SparkText

_OPENS = (TokenType.L_PAREN, TokenType.L_BRACKET)
_CLOSES = (TokenType.R_PAREN, TokenType.R_BRACKET)
# After one of these a value may be whole.
_ENDS_A_VALUE = frozenset(
    {
        *_CLOSES,
        *SparkText.Parser.TYPE_TOKENS,  # `1L` is read as `1::BIGINT`
        TokenType.STRING,
        TokenType.RAW_STRING,
        TokenType.HEX_STRING,
        TokenType.NUMBER,
        TokenType.NULL,
        TokenType.TRUE,
        TokenType.FALSE,
        TokenType.END,
    }
)
# Behind a whole value, these end the rows: an alias, or the next clause.
_FOLLOWS_ROWS = frozenset(
    {
        TokenType.VAR,
        TokenType.IDENTIFIER,
        TokenType.ALIAS,
        TokenType.SEMICOLON,
        TokenType.WHERE,
        TokenType.JOIN,
        TokenType.INNER,
        TokenType.LEFT,
        TokenType.RIGHT,
        TokenType.FULL,
        TokenType.CROSS,
        TokenType.NATURAL,
        TokenType.SEMI,
        TokenType.ANTI,
        TokenType.LATERAL,
        TokenType.ON,
        TokenType.USING,
        TokenType.PIVOT,
        TokenType.UNPIVOT,
        TokenType.WINDOW,
        TokenType.GROUP_BY,
        TokenType.HAVING,
        TokenType.ORDER_BY,
        TokenType.SORT_BY,
        TokenType.CLUSTER_BY,
        TokenType.DISTRIBUTE_BY,
        TokenType.LIMIT,
        TokenType.OFFSET,
        TokenType.UNION,
        TokenType.EXCEPT,
        TokenType.INTERSECT,
    }
)
# Behind the name of a column, not behind VALUES.
_FOLLOWS_A_NAME = frozenset(
    {
        *_CLOSES,
        *_FOLLOWS_ROWS - {TokenType.VAR, TokenType.IDENTIFIER, TokenType.LEFT, TokenType.RIGHT},
        TokenType.FROM,
        TokenType.COMMA,
        TokenType.DOT,
        TokenType.PLUS,
        TokenType.STAR,
        TokenType.SLASH,
        TokenType.DPIPE,
        TokenType.EQ,
        TokenType.NEQ,
        TokenType.NULLSAFE_EQ,
        TokenType.GT,
        TokenType.GTE,
        TokenType.LT,
        TokenType.LTE,
        TokenType.IS,
        TokenType.IN,
        TokenType.BETWEEN,
        TokenType.LIKE,
        TokenType.AND,
        TokenType.OR,
        TokenType.ASC,
        TokenType.DESC,
    }
)


def rows_of_values(sql: str) -> list[str]:
    """What follows each VALUES, up to the end of its rows."""
    tokens = SparkText().tokenize(sql)
    found = []
    for index, token in enumerate(tokens):
        if token.token_type is TokenType.VALUES and not _is_name(tokens, index):
            rows = tokens[index + 1 : _end_of_rows(tokens, index + 1)]
            found.append(sql[rows[0].start : rows[-1].end + 1])
    return found


def _is_name(tokens: Sequence[Token], index: int) -> bool:
    """Whether VALUES is the name of a column here."""
    before = tokens[index - 1].token_type if index else None
    if before in (TokenType.DOT, TokenType.ALIAS) or index + 1 == len(tokens):
        return True
    return tokens[index + 1].token_type in _FOLLOWS_A_NAME


def _end_of_rows(tokens: Sequence[Token], start: int) -> int:
    """The index of the first token after the rows."""
    depth, is_whole = 0, False
    for index in range(start, len(tokens)):
        type_ = tokens[index].token_type
        if depth == 0 and (type_ in _CLOSES or (is_whole and type_ in _FOLLOWS_ROWS)):
            return index
        depth += (type_ in _OPENS) - (type_ in _CLOSES)
        is_whole = type_ in _ENDS_A_VALUE
    return len(tokens)
