"""The rows of small changes, fetched once in a run: most questions about them then need no Spark.

The smallest Spark job takes 0.1 to 0.3 s, and each view asks about the same forty changed rows, in other
columns. Python answers all questions from one read.

Law: two values of a column have the same text here if and only if Spark's GROUP BY treats them as equal, with
-0.0 and 0.0 distinct. So Python's answers are Spark's.
"""

from __future__ import annotations

from collections.abc import Iterable

from sparkivm.engine import Field
from sparkivm.formats.source_change import SourceChange
from sparkivm.names import WEIGHT, in_changes, quoted
from sparkivm.refresh.changed_rows.answers import NULL_TEXT, FewRows
from sparkivm.refresh.changed_rows.questions import ChangedSources
from sparkivm.spark.data_types import BINARY, STRING, TIMESTAMP, SparkType

_MOST_ROWS = 2_000
_FOR_ANSWER = 1  # uses of changes
_AS_STRING = frozenset("tinyint smallint int bigint decimal boolean date timestamp_ntz float double".split())


def few_rows(sources: ChangedSources, asked: Iterable[str]) -> dict[str, FewRows]:
    """The rows of the small changes among `asked`; those not fetched yet are fetched in one query."""
    few = {key: sources.answers(key) for key in asked if _are_few(sources.changes[key])}
    missing = [key for key, answers in few.items() if answers.few is None]
    for key, rows in _fetched(sources, missing).items():
        few[key].few = rows
    return {key: answers.few for key, answers in few.items() if answers.few is not None}


def _are_few(change: SourceChange) -> bool:
    """False if a commit does not say how many rows it deleted, like INSERT OVERWRITE."""
    is_known = change.counted and change.growth is not None
    return change.how == "feed" and is_known and change.rows <= _MOST_ROWS


def _fetched(sources: ChangedSources, asked: Iterable[str]) -> dict[str, FewRows]:
    columns = {key: fields for key in asked if (fields := _texts(sources.tables[key].fields))}
    if not columns:
        return {}
    texts = sources.kept(columns, _FOR_ANSWER, every=True).texts(columns, netted=False)
    questions = (
        f"select {index} as source, {WEIGHT} as weight, concat_ws(',', {', '.join(fields.values())}) as texts"
        f"\nfrom (\n{texts.changes(key, list(fields))}\n) as changed"
        for index, (key, fields) in enumerate(columns.items())
    )
    rows = sources.ask(questions)
    return {
        key: FewRows(
            tuple(fields),
            tuple((row["weight"], tuple(row["texts"].split(","))) for row in rows if row["source"] == index),
        )
        for index, (key, fields) in enumerate(columns.items())
    }


def _texts(fields: Iterable[Field]) -> dict[str, str]:
    """For each column whose values have distinct texts without commas: the expression for the text."""
    found = ((field.name, _text(quoted(in_changes(field.name)), field.spark_type)) for field in fields)
    return {name: f"coalesce({text}, '{NULL_TEXT}')" for name, text in found if text}


def _text(column: str, type_: SparkType) -> str:
    if type_.word in _AS_STRING:
        return f"cast({column} as string)"
    if type_ == TIMESTAMP:  # texts have no time zone, so an hour occurs twice
        return f"cast(unix_micros({column}) as string)"
    if type_ in (STRING, BINARY):  # without a collation
        return f"sha2(cast({column} as binary), 256)"
    return ""
