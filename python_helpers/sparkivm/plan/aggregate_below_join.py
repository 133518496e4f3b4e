"""Counts and sums over a join, aggregated below it first: eager aggregation.

γ_{G; Σ e}(D ⋈ F)  =  γ_{G; Σ s}(D ⋈ E),   E entries that add up to γ_{b; s = Σ e}(F)

G are columns of D, e and b are columns of F, and b are those that D is joined by. A group exists only if its
count is not 0. Where rows of D change, they are looked up in the groups of F instead of its rows. So this
pays only if the groups are kept as an auxiliary view; its entries need not be added up in between.

source  Yan and Larson 1995, "Eager Aggregation and Lazy Aggregation"
tested  tests/laws/test_aggregate_below_join_law.py
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count

from sparkivm.algebra import Aggregate, Call, Filter, InnerJoin, Relation, Scalar
from sparkivm.algebra.aggregates.aggregate_function import AggregateFunction
from sparkivm.algebra.aggregates.count import COUNT, COUNT_ROWS
from sparkivm.algebra.aggregates.sum import SUM, exact_sum_type
from sparkivm.algebra.join_condition import JoinCondition
from sparkivm.algebra.scalar import column, conjunction
from sparkivm.algebra.sql_expression import expression
from sparkivm.plan.split import Split
from sparkivm.spark.data_types import BIGINT, SparkType

_Part = tuple[AggregateFunction, Scalar | None]  # a function of a group, and its argument


@dataclass(frozen=True)
class BelowJoin:
    """An aggregate over a join, in its other form.

    inner     the groups of F
    others    D, and the predicates that join it with F
    calls     of the whole, over the columns of `inner`
    formulas  the original calls, over the columns of the whole
    is_there  whether a group has rows
    """

    inner: Aggregate
    others: tuple[Relation, ...]
    predicates: tuple[Scalar, ...]
    keys: tuple[str, ...]
    calls: tuple[Call, ...]
    formulas: Mapping[str, Scalar]
    is_there: Scalar

    def over(self, entries: Relation) -> Aggregate:
        """The whole, over entries with the columns of F's groups."""
        return Aggregate(InnerJoin((*self.others, entries), self.predicates), self.keys, self.calls)

    def split(self, halves: Split, entries: Relation) -> Split:
        """The halves of a query whose core is the aggregate, over entries."""
        having = [*([halves.having.substitute(self.formulas)] if halves.having else []), self.is_there]
        return replace(
            halves,
            core=self.over(entries),
            output=tuple(scalar.substitute(self.formulas) for scalar in halves.output),
            having=conjunction(having),
            sort=tuple((scalar.substitute(self.formulas), key) for scalar, key in halves.sort),
        )


def aggregate_below_join(core: Relation, types: Sequence[SparkType | None]) -> BelowJoin | None:
    """The other form of an aggregate; None if it has none.

    types  of the arguments of its calls; None for calls that do not need them
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
    inside = tuple(p for p in join.predicates if p.columns and p.columns <= of_facts)
    outside = tuple(p for p in join.predicates if p not in inside)
    condition = JoinCondition.of((p for p in outside if not p.columns <= of_others), of_others, of_facts)
    if not condition.pairs or condition.residual or not _read_by(core.calls) <= of_facts:
        return None
    keys = tuple(dict.fromkeys(pair.right for pair in condition.pairs))
    input = InnerJoin(facts, inside) if len(facts) > 1 else _filtered(facts[0], inside)
    names = _free_names(core)
    parts = _parts(core.calls)
    inner = [replace(part, name=next(names)) for part in parts]
    whole = [Call(next(names), SUM, column(part.name)) for part in inner]
    found: dict[_Part, str] = {
        (part.function, part.argument): call.name for part, call in zip(parts, whole, strict=True)
    }
    return BelowJoin(
        Aggregate(input, keys, tuple(inner)),
        others,
        outside,
        core.keys,
        tuple(whole),
        {call.name: _formula(call, type_, found) for call, type_ in zip(core.calls, types, strict=True)},
        expression("n > 0", n=found[COUNT_ROWS, None]),
    )


def _filtered(relation: Relation, predicates: Sequence[Scalar]) -> Relation:
    condition = conjunction(predicates)
    return Filter(relation, condition) if condition else relation


def _parts(calls: Iterable[Call]) -> list[Call]:
    """What is added up: the row count and, for each argument, the count of values and their sum."""
    parts: dict[_Part, Call] = {(COUNT_ROWS, None): Call("rows", COUNT_ROWS)}
    for call in calls:
        if call.argument is not None:
            parts[COUNT, call.argument] = Call(f"{call.name}_values", COUNT, call.argument)
            parts[call.function, call.argument] = call
    return list(parts.values())


def _formula(call: Call, type_: SparkType | None, found: Mapping[_Part, str]) -> Scalar:
    """A call over the sums of its parts; SUM is NULL if there are no values.

    A sum of sums has more digits than Spark's SUM, and a quotient of it another scale.
    """
    if call.function == SUM:
        values, total = found[COUNT, call.argument], found[SUM, call.argument]
        return expression(f"case when n <> 0 then cast(s as {exact_sum_type(type_)}) end", n=values, s=total)
    return column(found[call.function, call.argument])


def _adds_up_twice(call: Call, type: SparkType | None) -> bool:
    """Whether adding up its values over parts of a group gives exactly its value over the group.

    A BIGINT sum may overflow in one part although the sum of the whole group does not.
    """
    if call.function in (COUNT_ROWS, COUNT):
        return True
    part = exact_sum_type(type) if call.function == SUM and type != BIGINT else None
    return part is not None and exact_sum_type(part) is not None


def _facts(join: InnerJoin, core: Aggregate) -> tuple[Relation, ...]:
    """F: the inputs that the arguments read, and inputs that are joined only with those.

    Without arguments: all inputs that have no key column.
    """
    read, keys = _read_by(core.calls), frozenset(core.keys)
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


def _read_by(calls: Iterable[Call]) -> frozenset[str]:
    return frozenset[str]().union(*(call.argument.columns for call in calls if call.argument is not None))


def _columns(relations: Iterable[Relation]) -> frozenset[str]:
    return frozenset(name for relation in relations for name in relation.columns)


def _free_names(core: Aggregate) -> Iterator[str]:
    """Names that no column of the plan has."""
    taken = {name.lower() for node in core.walk() for name in node.columns}
    return (name for number in count(1) if (name := f"part_{number}") not in taken)
