"""How often a refresh reads the model's text, and prints its plan."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from unittest.mock import patch

import pytest

from sparkivm.algebra.spark_text import SparkText
from sparkivm.plan.finalizer import Finalizer
from tests.refresh.conftest import BY_K


@pytest.fixture
def counts() -> Iterator[Counter[str]]:
    """How often the text was divided into tokens, and the plan was printed for its hash."""
    found: Counter[str] = Counter()
    tokenize, hashed = SparkText.Tokenizer.tokenize, Finalizer.without_run_constants.fget  # type: ignore[attr-defined]

    def counted_tokens(self, sql):
        found["tokens"] += sql == BY_K
        return tokenize(self, sql)

    def counted_hash(self):
        found["hashes"] += 1
        return hashed(self)

    with (
        patch.object(SparkText.Tokenizer, "tokenize", counted_tokens),
        patch.object(Finalizer, "without_run_constants", property(counted_hash)),
    ):
        yield found


def test_a_no_op_reads_the_text_once(view, counts):
    view.must_be("no_op")
    assert counts == {"tokens": 1}


def test_spark_is_asked_once_for_types(view, lab, monkeypatch):
    """The frontier has its answers."""
    asked = []
    schema_of = lab.engine.schema_of
    monkeypatch.setattr(lab.engine, "schema_of", lambda sql: (asked.append(sql), schema_of(sql))[1])
    for number in (4, 5):
        lab.run(f"insert into t values ({number}, 3, 8)")
        view.must_be("incremental")
    assert asked == []


def test_a_refresh_from_changes(view, lab, counts):
    """The text is checked, parsed, and searched for calls of functions."""
    lab.run("insert into t values (4, 3, 8)")
    view.must_be("incremental")
    assert counts == {"tokens": 3, "hashes": 1}
