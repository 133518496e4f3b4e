"""Reads a model's text as the compiler does, over the tables of the random queries unless others are given."""

from __future__ import annotations

import pytest

from sparkivm.algebra.query import Query
from sparkivm.errors import NotIncremental
from sparkivm.frontend.parse import parse_model
from sparkivm.frontend.query import read_query
from sparkivm.reasons import Fallback, Reason
from tests.fuzz.database import CATALOG
from tests.fuzz.embedded import Catalog


def read(sql: str, catalog: Catalog = CATALOG) -> Query:
    return read_query(parse_model("model", sql), catalog)


def assert_refused(sql: str, reason: Reason, detail: str) -> None:
    found = refusal(sql)
    assert found.reason is reason
    assert detail in found.detail


def refusal(sql: str, catalog: Catalog = CATALOG) -> Fallback:
    """Why the compiler refuses the text. Fails if the compiler reads it."""
    with pytest.raises(NotIncremental) as refused:
        read(sql, catalog)
    return refused.value.fallback
