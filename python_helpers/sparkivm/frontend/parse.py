"""The model's text: one SELECT, and what is refused right away."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from itertools import pairwise

import sqlglot
import sqlglot.parser
from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import Token, TokenType

from sparkivm.algebra.spark_text import SparkText
from sparkivm.errors import ModelError, NotIncremental
from sparkivm.frontend.place import not_understood
from sparkivm.reasons import Place, Reason

_WITH_UNIT = ("dateadd", "date_add", "date_diff", "datediff", "timediff", "timestampadd", "timestampdiff")
_WITH_SUFFIX = (exp.DataType.Type.TINYINT, exp.DataType.Type.SMALLINT, exp.DataType.Type.BIGINT)
_UNITS = tuple("year quarter month week day dayofyear hour minute second millisecond microsecond".split())
_QUERY_WORDS = ("select", "with", "(", "from", "values", "table")
_CHANGES_ROWS = ("insert", "merge", "update", "delete")


def statement_extent(model: object, sql: str) -> tuple[int, int]:
    """Where the model's query is: without byte order mark, surrounding comments and trailing semicolons.

    Raises: ModelError if there is no statement, there are several, or it is a command.
    """
    return _checked_extent(model, sql, _tokens(sql))


def statement_end(sql: str) -> int:
    """Where the statement ends: behind its last token, before semicolons and comments."""
    return _extent(sql, _tokens(sql))[1]


def _tokens(sql: str) -> list[Token] | None:
    """None where the parser cannot tokenize the text."""
    try:
        return sqlglot.tokenize(sql.replace("\ufeff", " "), read=SparkText)
    except SqlglotError:
        return None


def _checked_extent(model: object, sql: str, tokens: list[Token] | None) -> tuple[int, int]:
    """As `statement_extent`, of a text that is tokenized already."""
    start, end = _extent(sql, tokens)
    text = sql[start:end]
    if not text:
        raise ModelError(model, "the model has no SELECT", "write one SELECT statement")
    if not text.lower().startswith(_QUERY_WORDS):
        word = text.split(None, 1)[0]
        raise ModelError(
            model,
            f"the model starts with {word}, which is not a SELECT",
            "write one SELECT statement",
            _place_at(sql, start, word),
        )
    if text.endswith("\\"):
        what = "the model ends with a backslash, so Spark would continue a comment into the next line"
        raise ModelError(model, what, "remove it")
    _refuse_several(model, tokens or [])
    command = _command(tokens or [])
    if command is not None:
        raise ModelError(
            model,
            f"the model is a command, {command.text.upper()}, and not a query",
            "write one SELECT statement",
            _place_of_token(command),
        )
    return start, end


def _extent(sql: str, tokens: list[Token] | None) -> tuple[int, int]:
    """[start, end) from the first token to the last one that is not a semicolon."""
    if tokens is None:
        return len(sql) - len(sql.lstrip("\ufeff \t\r\n")), len(sql.rstrip().rstrip(";"))
    ends = [token.end for token in tokens if token.token_type is not TokenType.SEMICOLON]
    return (tokens[0].start, ends[-1] + 1) if ends else (0, 0)


def _refuse_several(model: object, tokens: Sequence[Token]) -> None:
    starts = [
        token
        for before, token in pairwise([None, *tokens])
        if token is not None
        and token.token_type is not TokenType.SEMICOLON
        and (before is None or before.token_type is TokenType.SEMICOLON)
    ]
    if len(starts) > 1:
        raise ModelError(
            model,
            f"the model has {len(starts)} statements",
            "keep one SELECT statement",
            _place_of_token(starts[1]),
        )


def _command(tokens: Sequence[Token]) -> Token | None:
    """The word that makes a command of a text that begins like a query: FROM … INSERT, WITH … MERGE."""
    outside = _outside_of_parentheses(tokens)
    main = 0
    if outside and _word(outside[0]) == "with":
        # Behind the last `name AS (…)`: no other token after `)` continues the WITH.
        behind = (
            i
            for i, (before, token) in enumerate(pairwise(outside), 1)
            if before.token_type is TokenType.R_PAREN
            and token.token_type is not TokenType.COMMA
            and _word(token) not in ("as", "max")
        )
        main = next(behind, len(outside))
    if main < len(outside) and _word(outside[main]) in _CHANGES_ROWS:
        return outside[main]
    if main < len(outside) and _word(outside[main]) == "from":
        for token, after in pairwise(outside[main:]):
            if _word(token) == "insert" and _word(after) in ("into", "overwrite"):
                return token
    return None


def _outside_of_parentheses(tokens: Sequence[Token]) -> list[Token]:
    """The tokens outside of parentheses, and the outermost closing parentheses."""
    depth, found = 0, []
    for token in tokens:
        depth += (token.token_type is TokenType.L_PAREN) - (token.token_type is TokenType.R_PAREN)
        if depth <= 0:
            found.append(token)
    return found


def _word(token: Token) -> str:
    """A keyword or name in lower case; "" for quoted text."""
    quoted = token.token_type in (TokenType.IDENTIFIER, TokenType.STRING)
    return "" if quoted else token.text.lower()


def _place_of_token(token: Token) -> Place:
    return Place(token.line, max(1, token.col - (token.end - token.start)), token.text)


def _place_at(sql: str, position: int, text: str) -> Place:
    before = sql[:position]
    return Place(before.count("\n") + 1, position - (before.rfind("\n") + 1) + 1, text)


def parse_model(model: object, sql: str) -> exp.Query:
    """The syntax tree of a model's SELECT; positions are those of `sql`.

    Raises: ModelError for several statements or none; NotIncremental where the parser fails, since Spark may
    not.
    """
    tokens = _tokens(sql)
    _checked_extent(model, sql, tokens)
    _refuse_compiled_sqlglot(model)
    text, dialect = sql.replace("\ufeff", " "), SparkText()
    try:
        tokens = dialect.tokenize(text) if tokens is None else tokens  # raises
        tree = dialect.parser().parse(tokens, text)[0]  # behind it, only comments
    except SqlglotError as error:
        raise NotIncremental(Reason.SQL_NOT_UNDERSTOOD, _first_line(error), _place(error)) from None
    if isinstance(tree, exp.Query):
        return with_units_and_signs(tree)
    found = type(tree).__name__
    if isinstance(tree, exp.DDL):
        raise ModelError(model, f"the model is a {found.upper()} statement", "write one SELECT statement")
    raise not_understood(f"the statement parses as {found}")


def with_units_and_signs(tree: exp.Query) -> exp.Query:
    """A parsed text in which some nodes mean what Spark takes them for; without comments."""
    return _with_signs(_with_units(_without_comments(tree)))


def _without_comments(tree: exp.Query) -> exp.Query:
    """Two equal expressions may have different comments."""
    for node in tree.walk():
        node.pop_comments()
    return tree


def _with_signs(tree: exp.Query) -> exp.Query:
    """-128Y: the number without its sign would not fit into the type."""
    for negative in list(tree.find_all(exp.Neg)):
        typed = negative.this
        if isinstance(typed, exp.Cast) and typed.to.this in _WITH_SUFFIX and typed.this.is_number:
            typed.this.replace(exp.Neg(this=typed.this.copy()))
            negative.replace(typed)
    return tree


def _with_units(tree: exp.Query) -> exp.Query:
    """DATEDIFF(day, a, b): the first of three arguments is a unit for Spark, even beside a column `day`."""
    for call in tree.find_all(exp.Anonymous):
        if call.name.lower() in _WITH_UNIT and len(call.expressions) == 3:
            unit = call.expressions[0]
            if isinstance(unit, exp.Column) and unit.sql("spark").lower() in _UNITS:
                unit.replace(exp.Var(this=unit.name))
    return tree


@contextmanager
def not_too_deep() -> Generator[None, None, None]:
    """Raises: NotIncremental for a query nested more deeply than Python's recursion limit allows."""
    try:
        yield
    except RecursionError:
        raise not_understood("the query is nested too deeply for the compiler") from None


def _refuse_compiled_sqlglot(model: object) -> None:
    """`SparkText` extends sqlglot's classes, which is impossible in its compiled build."""
    if not sqlglot.parser.__file__.endswith(".py"):
        raise ModelError(
            model,
            "the installed sqlglot is the compiled build; sparkivm needs the pure Python one",
            "pip uninstall sqlglotc",
        )


def _first_line(error: SqlglotError) -> str:
    details = getattr(error, "errors", None)
    return str(details[0].get("description")) if details else str(error).splitlines()[0]


def _place(error: SqlglotError) -> Place | None:
    details = getattr(error, "errors", None)
    if not details or not details[0].get("line"):
        return None
    return Place(details[0]["line"], max(1, details[0]["col"]), str(details[0].get("highlight") or ""))
