"""A model's `sql_header`: statements that prepare the session in which the model is analysed and computed."""

from __future__ import annotations

import re

import sqlglot
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import TokenType

from sparkivm.algebra.spark_text import SparkText
from sparkivm.errors import ModelError
from sparkivm.reasons import Place
from sparkivm.refresh.request import SqlHeader

# Value or time zone; SET VARIABLE and SET CATALOG are other statements.
_SETTING = re.compile(
    r"(?:set (?!var |variable |catalog |role )(?:time zone .|.* ?=|[^ =]+$)|reset\b)", re.IGNORECASE
)
# Explain and the consistency test run them too: they must not outlive the session or change names.
_OF_THE_SESSION = re.compile(
    r"(?:create (?:or replace )?temp(?:orary)? (?:function|view)|drop temporary (?:function|variable)"
    r"|declare|set var(?:iable)?|add (?:jar|jars|file|files|archive|archives))\b",
    re.IGNORECASE,
)


def read_header(model: str, text: str) -> SqlHeader:
    """A header's statements, separated by semicolons.

    Raises: ModelError for text that cannot be tokenized, or that affects more than the session.
    """
    try:
        tokens = sqlglot.tokenize(text, read=SparkText)
    except SqlglotError as error:
        what = f"its sql_header cannot be divided into statements: {str(error).splitlines()[0]}"
        raise ModelError(
            model, what, "close quotes and comments, and quote values that contain them"
        ) from None
    statements, unseen = [], ""
    start: int | None = None
    end = 0
    for token in [*tokens, None]:
        if token is not None and token.token_type is not TokenType.SEMICOLON:
            start = token.start if start is None else start
            end = token.end + 1
        elif start is not None:
            statement = text[start:end]
            words = _words(statement)
            if not _SETTING.match(words):
                if not _OF_THE_SESSION.match(words):
                    line = text.count("\n", 0, start) + 1
                    column = start - text.rfind("\n", 0, start)
                    raise ModelError(
                        model,
                        f"its sql_header has {_shown(words)}, which affects more than the session",
                        "a header may SET, DECLARE, ADD JAR and CREATE TEMPORARY FUNCTION or VIEW; "
                        "put other statements into pre_hook",
                        Place(line, column, "of sql_header"),
                    )
                unseen = unseen or _shown(words)
            statements.append(statement)
            start = None
    return SqlHeader(tuple(statements), unseen)


def _words(statement: str) -> str:
    """The statement without comments and with single blanks, to recognize its kind."""
    return " ".join(re.sub(r"/\*.*?\*/|--[^\n]*", " ", statement, flags=re.DOTALL).split())


def _shown(words: str) -> str:
    """The statement's beginning, up to the name that it creates."""
    first = words.split(" ")
    return " ".join(first[:5]) + (" …" if len(first) > 5 else "")
