"""Counts and sums over a join, added up below it first: eager aggregation.

γ_{G; Σ e}(D ⋈ F)  =  γ_{G; Σ s}(D ⋈ γ_{b; s = Σ e}(F)),   G of D, e and b of F, b the columns that D meets

Where rows of D change, the right side looks for them among the groups of F instead of its rows. So it pays
where the groups are kept: as a view of their own.

source  Yan and Larson 1995, "Eager Aggregation and Lazy Aggregation"
tested  tests/laws/test_aggregate_below_join_law.py
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import count

from sparkivm.algebra import Aggregate, Call, InnerJoin, Relation, Scalar
from sparkivm.algebra.aggregates.count import COUNT, COUNT_ROWS
from sparkivm.algebra.aggregates.sum import SUM, exact_sum_type
from sparkivm.algebra.join_condition import JoinCondition
from sparkivm.algebra.scalar import column
from sparkivm.spark.data_types import BIGINT, SparkType


@dataclass(frozen=True)
class BelowJoin:
    """An aggregate over a join in its other form.

    inner   the groups of F
    others  D and what it is joined with F by
    outer   keys and calls of the whole, over the columns of `inner`
    """

    inner: Aggregate
    others: tuple[Relation, ...]
    predicates: tuple[Scalar, ...]
    outer: Aggregate

    def over(self, groups: Relation) -> Aggregate:
        """The whole, the groups of F read from a relation that has their columns."""
        return replace(self.outer, input=InnerJoin((*self.others, groups), self.predicates))


def aggregate_below_join(core: Relation, types: Sequence[SparkType | None]) -> BelowJoin | None:
    """The other form of an aggregate, None if it has none.

    types  of the arguments of its calls, None of calls that do not ask for them
    """
    if not isinstance(core, Aggregate) or core.signed or not (core.keys and core.calls):
        return None
    join = core.input
    if not isinstance(join, InnerJoin) or not all(map(_adds_up_twice, core.calls, types)):
        return None
    facts = _facts(join, core)
    others = tuple(child for child in join.inputs if child not in facts)
    if not facts or not others:
        return None
    of_facts, of_others = _columns(facts), _columns(others)
    arguments = frozenset().union(*(call.argument.columns for call in core.calls if call.argument))
    inside = tuple(p for p in join.predicates if p.columns <= of_facts)
    outside = tuple(p for p in join.predicates if p not in inside)
    between = [p for p in outside if not p.columns <= of_others]
    condition = JoinCondition.of(between, of_others, of_facts)
    if not condition.pairs or condition.residual or not arguments <= of_facts:
        return None
    keys = tuple(dict.fromkeys(pair.right for pair in condition.pairs))
    input = facts[0] if len(facts) == 1 else InnerJoin(facts, inside)
    names = dict(zip(core.calls, _free_names(core), strict=True))
    inner = Aggregate(input, keys, tuple(replace(call, name=name) for call, name in names.items()))
    calls = tuple(Call(call.name, SUM, column(name)) for call, name in names.items())
    return BelowJoin(inner, others, outside, replace(core, calls=calls))


def _adds_up_twice(call: Call, type: SparkType | None) -> bool:
    """Whether a sum of its values over parts of a group is its value over the group, to the last digit.

    Sums of BIGINT may overflow in a part of a group that adds up as a whole.
    """
    if call.function in (COUNT_ROWS, COUNT):
        return True
    part = exact_sum_type(type) if call.function == SUM and type != BIGINT else None
    return part is not None and exact_sum_type(part) is not None


def _facts(join: InnerJoin, core: Aggregate) -> tuple[Relation, ...]:
    """F: the inputs that the arguments are of, and those that are joined with them alone.

    Without an argument, all inputs that no key is of.
    """
    read = frozenset().union(*(call.argument.columns for call in core.calls if call.argument))
    keys = frozenset(core.keys)
    free = [child for child in join.inputs if keys.isdisjoint(child.columns)]
    found = [child for child in free if not read or not read.isdisjoint(child.columns)]
    fixed = [child for child in join.inputs if child not in free]
    for child in free:
        if child not in found and not _meets(join, child, fixed) and _meets(join, child, found):
            found.append(child)
    return tuple(child for child in join.inputs if child in found)


def _meets(join: InnerJoin, child: Relation, others: Iterable[Relation]) -> bool:
    columns = _columns(others)
    return any(
        not p.columns.isdisjoint(child.columns) and not p.columns.isdisjoint(columns) for p in join.predicates
    )


def _columns(relations: Iterable[Relation]) -> frozenset[str]:
    return frozenset(name for relation in relations for name in relation.columns)


def _free_names(core: Aggregate) -> list[str]:
    """Names for the calls that no column of the plan has."""
    taken = {name.lower() for node in core.walk() for name in node.columns}
    found = []
    for call in core.calls:
        names = (f"{call.name}_{number}" for number in count(1))
        found.append(next(name for name in names if name.lower() not in taken))
        taken.add(found[-1].lower())
    return found
