"""A short run of each metamorphic relation, the same in each run; each also finds a planted mistake."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from sparkivm.algebra import Filter, Relation, affected_keys, join_condition
from sparkivm.algebra.derivation import Derivation
from sparkivm.algebra.scalar import Scalar, column, integer
from sparkivm.algebra.sql_expression import expression
from sparkivm.frontend import subqueries
from sparkivm.plan import bag_changes, group_changes, steps
from sparkivm.plan.state import WEIGHT_COLUMN
from tests.fuzz.case import TREES_PER_WORLD, Case, shared_world
from tests.fuzz.metamorphic.relations import RELATIONS, RelationFuzzer
from tests.fuzz.run import first_seed, try_seeds

_TREES = 10  # per relation
_WORLDS = 50  # in which the mistake must be found


@pytest.mark.parametrize("relation", RELATIONS)
def test_random_views_keep_to(relation):
    found = try_seeds(first_seed(), _TREES, depth=1, relation=relation)
    assert not found.failures, "\n\n".join(found.failures)
    assert sum(found.refused.values()) < _TREES / 2


def _old_is_new(patch: pytest.MonkeyPatch) -> None:
    """The changes of two tables are joined in both terms."""
    patch.setattr(Derivation, "old", lambda self, relation, *args, **kw: self.new(relation, *args, **kw))


def _old_groups_stay(patch: pytest.MonkeyPatch) -> None:
    """A group's new row is added, but its old row is removed only in the state."""
    patch.setattr(affected_keys, "difference", lambda new, old: new)


def _changes_not_netted(patch: pytest.MonkeyPatch) -> None:
    """A row that goes and comes back counts as a change."""
    patch.setattr(bag_changes, "Consolidate", lambda relation: relation)


def _steps_without_weights(patch: pytest.MonkeyPatch) -> None:
    """A step loses the sign of its rows."""
    patch.setattr(steps, "column", lambda name: integer(1))


def _changes_not_filtered(patch: pytest.MonkeyPatch) -> None:
    """Rows that WHERE excludes are added."""
    patch.setattr(Filter, "delta", lambda self, d: d.delta(self.input))


def _in_finds_null(patch: pytest.MonkeyPatch) -> None:
    """NULL IN (NULL) is TRUE, unlike in SQL."""
    patch.setattr(subqueries, "equal", lambda x, y: expression("x is not distinct from y", x=x, y=y))


def _equal_or_zero(x: str, y: str, null_safe: bool = False) -> Scalar:
    return expression("coalesce(x, 0) = coalesce(y, 0)", x=x, y=y)


def _null_is_a_value(patch: pytest.MonkeyPatch) -> None:
    """Joins treat NULL and 0 as equal."""
    patch.setattr(join_condition, "equal", _equal_or_zero)


def _one_copy_each(patch: pytest.MonkeyPatch) -> None:
    """Changes ignore the number of copies."""

    def one(name: str) -> Scalar:
        return integer(1) if name == WEIGHT_COLUMN else column(name)

    patch.setattr(bag_changes, "column", one)


def _dead_groups_stay(patch: pytest.MonkeyPatch) -> None:
    """Groups without rows are kept."""

    def unfiltered(relation: Relation, predicate: Scalar) -> Relation:
        return relation

    patch.setattr(group_changes, "Filter", unfiltered)


_JOIN = "select q1.k, q2.b from r as q1 join s as q2 on q1.a = q2.a"
_LEFT_JOIN = "select q1.k, q2.b from r as q1 left join s as q2 on q1.a = q2.a"
_IN = "select q1.k from r as q1 where q1.a in (select q2.a from s as q2)"
_GROUPS = "select q1.k, count(*) as c1, max(q1.a) as c2 from r as q1 group by q1.k"
_LOWER = "select k, max(a) as a, count(b) as b, sum(d) as d, sum(f) as f, max(s) as s from r group by k"
_CHAIN = f"with lower_view as ({_LOWER}) {_JOIN.replace('from r', 'from lower_view')}"

# A mistake, and a model that reveals it.
MISTAKES: dict[str, tuple[Callable[[pytest.MonkeyPatch], None], str]] = {
    "batches_at_once": (_old_is_new, _JOIN),
    "there_and_back": (_old_is_new, _JOIN),
    "nothing_to_see": (_changes_not_netted, _JOIN),
    "ways_agree": (_steps_without_weights, _JOIN),
    "parts_add_up": (_changes_not_filtered, _JOIN),
    "texts_agree": (_in_finds_null, _IN),
    "names_do_not_matter": (_null_is_a_value, _LEFT_JOIN),
    "twice_is_twice": (_one_copy_each, _JOIN),
    "chain_is_flat": (_old_groups_stay, _CHAIN),
    "state_is_sound": (_dead_groups_stay, _GROUPS),
}


@pytest.mark.parametrize("relation", RELATIONS)
def test_a_mistake_is_found(monkeypatch, relation):
    mistake, sql = MISTAKES[relation]
    fuzzer = RelationFuzzer(RELATIONS[relation])
    cases = [Case(seed, sql, shared_world(seed * TREES_PER_WORLD)) for seed in range(_WORLDS)]
    assert not any(map(fuzzer.failure_of, cases[:5]))
    mistake(monkeypatch)
    outcomes = map(fuzzer.outcome_of, cases)
    assert any(outcome and outcome.startswith(("view", "state")) for outcome in outcomes)
