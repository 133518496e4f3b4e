"""The model's text: one SELECT, and what is refused before anything is tried."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

import sqlglot
import sqlglot.parser
from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import TokenType

from sparkivm.algebra.spark_text import SparkText
from sparkivm.errors import ModelError, NotIncremental
from sparkivm.frontend.place import place_of
from sparkivm.reasons import Fallback, Place, Reason

_WITH_UNIT = ("dateadd", "date_add", "date_diff", "datediff", "timediff", "timestampadd", "timestampdiff")
_UNITS = tuple("year quarter month week day dayofyear hour minute second millisecond microsecond".split())
_QUERY_WORDS = ("select", "with", "(", "from", "values", "table")


def statement_text(model: str, sql: str) -> str:
    """The model's SELECT without what stands around it: byte order mark, comments, trailing semicolons.

    Raises: ModelError if there is none.
    """
    start, end = _extent(sql)
    text = sql[start:end]
    if not text:
        raise ModelError(model, "the model has no SELECT", "write one SELECT statement")
    if not text.lower().startswith(_QUERY_WORDS):
        word = text.split(None, 1)[0]
        raise ModelError(
            model, f"the model starts with {word}, which is no SELECT", "write one SELECT statement"
        )
    return text


def statement_end(sql: str) -> int:
    """Where the statement ends: behind its last token, before semicolons and comments."""
    return _extent(sql)[1]


def _extent(sql: str) -> tuple[int, int]:
    """From the first token to behind the last one that is no semicolon."""
    try:
        tokens = sqlglot.tokenize(sql.replace("\ufeff", " "), read=SparkText)
    except SqlglotError:
        return len(sql) - len(sql.lstrip("\ufeff \t\r\n")), len(sql.rstrip().rstrip(";"))
    ends = [token.end for token in tokens if token.token_type is not TokenType.SEMICOLON]
    return (tokens[0].start, ends[-1] + 1) if ends else (0, 0)


def parse_model(model: str, sql: str) -> exp.Query:
    """The syntax tree of a model's SELECT; positions are those of `sql`.

    Raises: ModelError for several statements or none; NotIncremental where the parser gives up, as Spark
    may not.
    """
    statement_text(model, sql)
    _refuse_compiled_sqlglot(model)
    try:
        trees = [
            tree for tree in sqlglot.parse(sql.replace("\ufeff", " "), dialect=SparkText) if tree is not None
        ]
    except SqlglotError as error:
        raise NotIncremental(Fallback(Reason.SQL_NOT_UNDERSTOOD, _first_line(error), _place(error))) from None
    trees = [tree for tree in trees if not isinstance(tree, exp.Semicolon)]
    if len(trees) > 1:
        raise ModelError(
            model, f"the model holds {len(trees)} statements", "keep one SELECT statement", place_of(trees[1])
        )
    if not trees or not isinstance(trees[0], exp.Query):
        found = type(trees[0]).__name__ if trees else "nothing"
        if trees and isinstance(trees[0], (exp.Command, exp.DDL, exp.DML, exp.Set, exp.Drop, exp.Create)):
            raise ModelError(model, f"the model is a {found.upper()} statement", "write one SELECT statement")
        raise NotIncremental(Fallback(Reason.SQL_NOT_UNDERSTOOD, f"the statement is read as {found}"))
    return _with_units(trees[0])


def _with_units(tree: exp.Query) -> exp.Query:
    """DATEDIFF(day, a, b): to Spark the first of three arguments is a unit, also beside a column `day`."""
    for call in tree.find_all(exp.Anonymous):
        if call.name.lower() in _WITH_UNIT and len(call.expressions) == 3:
            unit = call.expressions[0]
            if isinstance(unit, exp.Column) and unit.sql("spark").lower() in _UNITS:
                unit.replace(exp.Var(this=unit.name))
    return tree


@contextmanager
def not_too_deep() -> Generator[None, None, None]:
    """Raises: NotIncremental for a query that is nested more deeply than Python's functions may be."""
    try:
        yield
    except RecursionError:
        detail = "it is nested too deeply for the compiler"
        raise NotIncremental(Fallback(Reason.SQL_NOT_UNDERSTOOD, detail)) from None


def _refuse_compiled_sqlglot(model: str) -> None:
    """Python code cannot extend the classes of sqlglot's compiled build, as `SparkText` does."""
    if not sqlglot.parser.__file__.endswith(".py"):
        raise ModelError(
            model,
            "the installed sqlglot is its compiled build, and sparkivm needs the plain one",
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
