"""Collects the hidden columns that an aggregate's formula adds, for tests of aggregates."""

from __future__ import annotations

from sparkivm.algebra.aggregates.stored_aggregate import StoredAggregate


class HiddenByWord(dict[str, StoredAggregate]):
    """The stored aggregates, by the word for their columns' names."""

    def add(self, word: str, function: StoredAggregate) -> str:
        self[word] = function
        return word
