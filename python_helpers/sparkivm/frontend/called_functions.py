"""Which functions a text calls, by the names in the text: the parser renames some."""

from __future__ import annotations

from itertools import pairwise

import sqlglot
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import TokenType

from sparkivm.algebra.spark_text import SparkText

# Words before a parenthesis that are part of the language.
_SYNTAX = frozenset(
    """
    select from where having by on using in and or not between all when then else case over group
    as values union except intersect minus join lateral distinct limit offset sets rollup cube
    pivot unpivot for tablesample div cast try_cast extract timestampadd timestampdiff decimal
    dec numeric varchar character
    """.split()
)


def called_functions(sql: str) -> frozenset[str]:
    """Names before a parenthesis, in lower case; also table aliases with columns (`t (a, b)`).

    Those with a schema begin with a dot. Empty for a text that the parser cannot divide.
    """
    try:
        tokens = sqlglot.tokenize(sql.replace("\ufeff", " "), read=SparkText)
    except SqlglotError:
        return frozenset()
    found = set()
    before = None
    for token, after in pairwise(tokens):
        name = token.text.lower()
        is_name = name.replace("_", "a").isalnum() or token.token_type is TokenType.IDENTIFIER
        if after.token_type is TokenType.L_PAREN and is_name and token.token_type is not TokenType.STRING:
            qualified = before is not None and before.token_type is TokenType.DOT
            if qualified or name not in _SYNTAX or token.token_type is TokenType.IDENTIFIER:
                found.add(f".{name}" if qualified else name)
        before = token
    return frozenset(found)
