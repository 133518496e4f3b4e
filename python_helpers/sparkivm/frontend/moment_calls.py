"""Finds where a SELECT asks for the date or time, to run it as of another moment."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot.tokenizer_core import Token, TokenType

from sparkivm.algebra.moment import MOMENTS
from sparkivm.algebra.spark_text import SparkText

# After one of these, a name is an alias without AS.
_ENDS_A_VALUE = (
    TokenType.R_PAREN,
    TokenType.R_BRACKET,
    TokenType.VAR,
    TokenType.IDENTIFIER,
    TokenType.NUMBER,
    TokenType.STRING,
    TokenType.END,
)
_WITHOUT_PARENTHESES = ("current_date", "current_timestamp")


def replace_moments(sql: str, literals: Mapping[str, str]) -> str:
    """The text with CURRENT_DATE, NOW and the like replaced by literals, one for each key of a moment."""
    tokens = SparkText().tokenize(sql)
    pieces: list[str] = []
    position = 0
    for index, token in enumerate(tokens):
        key = MOMENTS.get(token.text.lower())
        end = _end_of_call(tokens, index)
        if key is None or key not in literals or end is None:
            continue
        pieces += [sql[position : token.start], literals[key]]
        position = end
    return "".join([*pieces, sql[position:]])


def _end_of_call(tokens: list[Token], index: int) -> int | None:
    """The end of the call that begins at a token; None if it is a column, an alias or a text."""
    token = tokens[index]
    if token.token_type in (TokenType.STRING, TokenType.IDENTIFIER):
        return None
    before = tokens[index - 1].token_type if index else None
    if before in (TokenType.DOT, TokenType.ALIAS):
        return None
    after = [one.token_type for one in tokens[index + 1 : index + 3]]
    if after == [TokenType.L_PAREN, TokenType.R_PAREN]:
        return tokens[index + 2].end + 1
    is_call = token.text.lower() in _WITHOUT_PARENTHESES and before not in _ENDS_A_VALUE
    return token.end + 1 if is_call else None
