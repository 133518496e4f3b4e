"""A short run of the fuzzer, the same queries in each run; `make fuzz` is the long one, with its own queries."""

from __future__ import annotations

import pytest

from sparkivm.algebra import left_join
from sparkivm.algebra.derivation import Derivation
from sparkivm.algebra.scalar import integer
from tests.fuzz.case import TREES_PER_WORLD, Fuzzer, random_case
from tests.fuzz.run import first_seed, try_seeds

WORLDS = 8


@pytest.mark.parametrize("number", range(WORLDS))
def test_random_views_equal_their_recomputation(number):
    found = try_seeds(first_seed() + number * TREES_PER_WORLD, TREES_PER_WORLD, depth=2)
    assert not found.failures, "\n\n".join(found.failures)
    assert found.refused.total() <= TREES_PER_WORLD // 10, found.refused
    assert found.forms.total() > TREES_PER_WORLD / 2


def _padding_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """When a row loses its last match, it is not padded."""
    monkeypatch.setattr(left_join, "TRANSITION", integer(0))


def _old_is_new(monkeypatch: pytest.MonkeyPatch) -> None:
    """The changes of two tables are joined in both terms."""
    monkeypatch.setattr(
        Derivation, "old", lambda self, relation, *args, **options: self.new(relation, *args, **options)
    )


@pytest.mark.parametrize("mistake", [_padding_forgotten, _old_is_new])
def test_the_fuzzer_finds_a_wrong_rule(monkeypatch, mistake):
    """Otherwise it would be useless."""
    mistake(monkeypatch)
    fuzzer = Fuzzer()
    outcomes = (fuzzer.outcome_of(random_case(seed, depth=1)) for seed in range(200))
    assert any(outcome and outcome.startswith(("view", "state")) for outcome in outcomes)
