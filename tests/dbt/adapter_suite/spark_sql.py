"""The SQL of dbt's test classes, which is PostgreSQL's, in Spark's words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

import pytest

_WORDS = [
    (re.compile(r"\bTIMESTAMP WITHOUT TIME ZONE\b", re.IGNORECASE), "timestamp"),
    (re.compile(r"\b(?:text\b|varchar\b(?!\())", re.IGNORECASE), "string"),
    (re.compile(r"\{database\}\.|\{\{\s*target\.database\s*\}\}\."), ""),  # dbt-spark has no databases
]
_QUOTED_COLUMNS = re.compile(r'\("\w+"(?:,\s*"\w+"){2,}\)')


def spark_sql(text: str) -> str:
    """A statement, a model or properties with Spark's types, names without a database, and backticks."""
    for words, of_spark in _WORDS:
        text = words.sub(of_spark, text)
    return _QUOTED_COLUMNS.sub(lambda columns: columns[0].replace('"', "`"), text)


@contextmanager
def constants_in_spark_sql(*modules: ModuleType) -> Iterator[None]:
    """Inside the context, the texts that are constants of these modules are in Spark's words."""
    with pytest.MonkeyPatch.context() as patch:
        for module in modules:
            for name, value in list(vars(module).items()):
                if isinstance(value, str) and not name.startswith("__"):
                    patch.setattr(module, name, spark_sql(value))
        yield
