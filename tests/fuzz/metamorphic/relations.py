"""The metamorphic relations: properties of a view that we can check without knowing the right result."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from tests.fuzz.case import Case, Fuzzer, shared_world
from tests.fuzz.database import CATALOG, Database
from tests.fuzz.metamorphic.chain import chain_case, chain_is_flat
from tests.fuzz.metamorphic.hidden_state import state_is_sound
from tests.fuzz.metamorphic.other_data import equality_case, names_do_not_matter, spj_case, twice_is_twice
from tests.fuzz.metamorphic.same_changes import batches_at_once, nothing_to_see, there_and_back
from tests.fuzz.metamorphic.same_views import parts_add_up, texts_agree, ways_agree
from tests.fuzz.random_queries import QueryMaker


def timeless_case(seed: int, depth: int) -> Case:
    """A case whose query does not read the date, because moments do not add up as changes do."""
    maker = QueryMaker(random.Random(seed), max_depth=depth, moments=False)
    return Case(seed, maker.query(), shared_world(seed))


@dataclass(frozen=True)
class MetamorphicRelation:
    """`violation` says how a case violates it."""

    violation: Callable[[Database, Case], str | None]
    case: Callable[[int, int], Case] = timeless_case

    @property
    def name(self) -> str:
        return self.violation.__name__


RELATIONS = {
    relation.name: relation
    for relation in (
        MetamorphicRelation(batches_at_once),
        MetamorphicRelation(there_and_back),
        MetamorphicRelation(nothing_to_see),
        MetamorphicRelation(ways_agree),
        MetamorphicRelation(parts_add_up),
        MetamorphicRelation(texts_agree),
        MetamorphicRelation(names_do_not_matter, equality_case),
        MetamorphicRelation(twice_is_twice, spj_case),
        MetamorphicRelation(chain_is_flat, chain_case),
        MetamorphicRelation(state_is_sound),
    )
}


class RelationFuzzer(Fuzzer):
    """Looks for cases that violate one relation."""

    def __init__(self, relation: MetamorphicRelation) -> None:
        super().__init__(CATALOG)
        self._relation = relation

    def failure_of(self, case: Case) -> str | None:
        return self._relation.violation(self.database, case)
