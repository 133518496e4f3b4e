"""The query in a model's text. A text that is not one query is refused before anything runs."""

from __future__ import annotations

import re

from sparkivm.changes.frontier import Frontier
from sparkivm.changes.source_declaration import NOTHING_DECLARED, DeclaredSources
from sparkivm.digest import digest
from sparkivm.engine import Engine, EngineError, Field
from sparkivm.errors import ModelError
from sparkivm.formats import DEFAULT_FORMAT, STATE_FORMATS
from sparkivm.frontend.parse import statement_extent
from sparkivm.names import RESERVED_PREFIX, TableName, is_reserved, quoted
from sparkivm.plan.finalizer import duplicate
from sparkivm.reasons import Place
from sparkivm.refresh.session.recording_engine import RecordingEngine
from sparkivm.refresh.sources.pins import Pins
from sparkivm.refresh.sources.sources import Sources

_LONGEST_EXCERPT = 80
_POSITION = re.compile(r"[;,]?\s*\(?\bline \d+,? pos \d+\)?")
_STATEMENT = re.compile(r"\s*== SQL ==.*", re.DOTALL)  # ours, repeated in the message


def query_text(engine: Engine, model: TableName, sql: str) -> str:
    """A model's query with the values that Spark inserts for `${name}`, without what follows it.

    The values are part of the text: other values make it another query.
    Raises: ModelError if the text is not one query.
    """
    try:
        text = engine.substituted(sql)
    except EngineError as error:
        raise ModelError(
            model, f"Spark cannot insert a value for ${{…}}: {error}", "write the value, or use var()"
        ) from None
    _, end = statement_extent(model, text)
    return text[:end].replace("\ufeff", " ")


def check_is_query(engine: Engine, model: TableName, text: str, frontier: Frontier | None) -> None:
    """Ask Spark's own parser, unless the last refresh had the same text.

    Raises: ModelError with the place at which Spark's parser stopped.
    """
    if frontier is not None and frontier.text == digest(text):
        return
    try:
        engine.check_query(text)
    except EngineError as error:
        raise refusal(model, text, error) from None


def model_fields(engine: Engine, model: TableName, text: str) -> tuple[Field, ...]:
    """The columns of a model's query.

    Raises: ModelError if Spark refuses it, or a view cannot have its column names.
    """
    try:
        fields = engine.schema_of(text)
    except EngineError as error:
        raise refusal(model, text, error) from None
    twice = duplicate([f.name for f in fields])
    if twice is not None:
        raise ModelError(model, f"two output columns are named {twice}", "give one of them another name")
    for f in fields:
        if is_reserved(f.name):
            raise ModelError(
                model,
                f"the output column {f.name} has a reserved name",
                f"do not begin names with {RESERVED_PREFIX}",
            )
    return fields


def columns_query(
    engine: Engine, model: TableName, sql: str, declared: DeclaredSources = NOTHING_DECLARED
) -> str:
    """A query without FROM with a model's columns, for dbt to compare with a contract.

    Raises: ModelError, DeclarationError.
    """
    format = STATE_FORMATS[DEFAULT_FORMAT]  # unused: no mirror is created
    sources = Sources(RecordingEngine(engine), Pins(), declared, model.schema, format, captures=False)
    text = sources.model_text(model, query_text(engine, model, sql))
    columns = model_fields(engine, model, text)
    return "select " + ", ".join(f"cast(null as {f.type}) as {quoted(f.name)}" for f in columns)


def refusal(model: TableName, text: str, error: EngineError) -> ModelError:
    """The error for a text that Spark refuses, with the place in it."""
    said = _STATEMENT.sub("", str(error))
    if error.position is not None:
        said = _POSITION.sub("", said)
    return ModelError(model, f"Spark refuses the model's SQL: {said}", "correct the SQL", _place(text, error))


def _place(text: str, error: EngineError) -> Place | None:
    if error.position is None:
        return None
    line, column = error.position
    lines = text.split("\n")
    rest = lines[line - 1][column - 1 :].strip() if line <= len(lines) else ""
    return Place(line, column, rest[:_LONGEST_EXCERPT])
