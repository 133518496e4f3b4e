"""The rows of each VALUES in a text, as they are written.

tested  tests/unit/test_values_rows.py
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot.tokenizer_core import Token, TokenType

from sparkivm.algebra.spark_text import SparkText

_OPENS = (TokenType.L_PAREN, TokenType.L_BRACKET)
_CLOSES = (TokenType.R_PAREN, TokenType.R_BRACKET)
_CONTINUES = (TokenType.COMMA, TokenType.PLUS, TokenType.STAR, TokenType.SLASH, TokenType.DPIPE)
_LITERALS = (
    TokenType.STRING,
    TokenType.RAW_STRING,
    TokenType.HEX_STRING,
    TokenType.NUMBER,
    TokenType.NULL,
    TokenType.TRUE,
    TokenType.FALSE,
)


def rows_of_values(sql: str) -> list[str]:
    """What follows each VALUES, up to the end of its rows."""
    tokens = SparkText().tokenize(sql)
    found = []
    for index, token in enumerate(tokens):
        if token.token_type is TokenType.VALUES:
            rows = tokens[index + 1 : _end_of_rows(tokens, index + 1)]
            if rows and rows[0].token_type not in _CONTINUES:  # else VALUES is the name of a column
                found.append(sql[rows[0].start : rows[-1].end + 1])
    return found


def _end_of_rows(tokens: Sequence[Token], start: int) -> int:
    """The index of the first token after the rows: it follows a whole value and does not continue it."""
    depth, is_whole = 0, False
    for index in range(start, len(tokens)):
        type_ = tokens[index].token_type
        follows = type_ in (*_CONTINUES, TokenType.DASH) or type_ in _LITERALS
        if depth == 0 and (type_ in _CLOSES or (is_whole and not follows)):
            return index
        depth += (type_ in _OPENS) - (type_ in _CLOSES)
        is_whole = type_ in _CLOSES or type_ in _LITERALS
    return len(tokens)
