"""No operator lacks a law: the closed list has every operator, and the laws are tested on each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import get_args

from sparkivm.algebra import AnyRelation, Derivation, Keys, Relation, Scan
from sparkivm.algebra.inputs import NoInput, OneInput, TwoSides
from sparkivm.algebra.linear import Linear
from sparkivm.algebra.relation import Derived
from sparkivm.algebra.scan import Leaf
from tests.laws.operators import OPERATORS, over_a_table, zsets

_KINDS = {
    NoInput,
    OneInput,
    TwoSides,
    Linear,
    Leaf,
    Derived,
}  # base classes, which are not operators themselves


def _subclasses(kind: type[Relation]) -> Iterator[type[Relation]]:
    for subclass in kind.__subclasses__():
        yield subclass
        yield from _subclasses(subclass)


def test_the_list_of_operators_is_complete():
    found = {c for c in _subclasses(Relation) if c.__module__.startswith("sparkivm.")} - _KINDS
    assert found == set(get_args(AnyRelation))


def test_a_law_is_tried_on_every_operator():
    queries = [over_a_table(name) for name in OPERATORS]
    keys = Keys.of(Scan("t", (("key", "k"),)), ())
    deltas = [Derivation({"r", "s", "t"}).delta(query) for query in queries]
    restricted = [query.restrict(Keys.of(keys.source, [(query.columns[0], "key")])) for query in queries]
    reached = {
        type(node) for root in [*queries, *deltas, *restricted, *zsets().values()] for node in root.walk()
    }
    assert reached == set(get_args(AnyRelation))
