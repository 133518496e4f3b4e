"""An aggregate over a join == its groups computed below the join, joined and added up; where this is impossible."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sparkivm.algebra import (
    Aggregate,
    Call,
    Consolidate,
    Filter,
    InnerJoin,
    Project,
    Relation,
    Scalar,
    UnionAll,
)
from sparkivm.algebra.aggregates.count import COUNT, COUNT_ROWS
from sparkivm.algebra.aggregates.extremum import MAX
from sparkivm.algebra.aggregates.sum import SUM
from sparkivm.algebra.scalar import column
from sparkivm.algebra.sql_expression import expression
from sparkivm.algebra.union_all import plus
from sparkivm.algebra.zset import negated
from sparkivm.plan.aggregate_below_join import BelowJoin, aggregate_below_join
from sparkivm.spark.data_types import BIGINT, INT, SparkType, spark_type
from tests.duckdb_dialect import duckdb_text
from tests.laws.operators import table
from tests.laws.worlds import Worlds, WorldSources

ROUNDS = 40


def equal(left: str, right: str, sign: str = "=") -> Scalar:
    return expression(f"x {sign} y", x=left, y=right)


def calls_of(name: str, other: str) -> tuple[Call, ...]:
    return (
        Call("rows", COUNT_ROWS),
        Call("n", COUNT, column(name)),
        Call("s", SUM, column(name)),
        Call("positive", SUM, expression("case when x > 0 then y end", x=other, y=name)),
    )


TYPES = (None, None, INT, INT)


def of_two(sign: str = "=") -> Aggregate:
    r, s = table("r"), table("s")
    (k, a), (j, b) = r.columns, s.columns
    return Aggregate(InnerJoin((r, s), (equal(k, j, sign),)), (k, a), calls_of(b, j))


def of_keys_that_are_not_joined_by() -> Aggregate:
    r, s = table("r"), table("s")
    (k, a), (j, b) = r.columns, s.columns
    join = InnerJoin((s, Filter(r, expression("x > 0", x=k))), (equal(j, k),))
    return Aggregate(join, (a,), calls_of(b, j))


def of_three() -> Aggregate:
    """The third table is joined with the facts only."""
    r, s, t = table("r"), table("s"), table("t")
    (k, a), (j, b), (m, c) = r.columns, s.columns, t.columns
    join = InnerJoin((s, r, t), (equal(k, j), equal(b, m), expression("x <= y", x=j, y=c)))
    return Aggregate(join, (a,), calls_of(b, j))


def of_two_dimensions() -> Aggregate:
    r, s, t = table("r"), table("s"), table("t")
    (k, a), (j, b), (m, c) = r.columns, s.columns, t.columns
    join = InnerJoin((r, s, t), (equal(k, j), equal(b, m), expression("x <= y", x=a, y=c)))
    return Aggregate(join, (a, c), calls_of(b, j))


def of_rows_alone() -> Aggregate:
    r, s = table("r"), table("s")
    return Aggregate(
        InnerJoin((r, s), (equal(r.columns[0], s.columns[0]),)), r.columns, (Call("rows", COUNT_ROWS),)
    )


def of_never() -> Aggregate:
    """A predicate without columns, as a macro of dbt leaves it."""
    core = of_two()
    join = core.input
    assert isinstance(join, InnerJoin)
    return replace(core, input=replace(join, predicates=(*join.predicates, expression("'dev' = 'prod'"))))


def of_a_filter_in_the_join() -> Aggregate:
    core = of_two()
    join = core.input
    assert isinstance(join, InnerJoin)
    mine = expression("x > 0", x=join.inputs[1].columns[0])
    return replace(core, input=replace(join, predicates=(*join.predicates, mine)))


def presented(below: BelowJoin, entries: Relation, core: Aggregate) -> Relation:
    """The rows of the other form, with the aggregate's own columns."""
    formulas = ((call.name, below.formulas[call.name]) for call in core.calls)
    keys = ((key, column(key)) for key in core.keys)
    return Project(Filter(below.over(entries), below.is_there), (*keys, *formulas))


def in_entries(inner: Aggregate) -> Relation:
    """Each group as several entries: values that are taken away again, and its rows in two halves."""
    keys = tuple((key, column(key)) for key in inner.keys)
    came, went = (
        Project(inner, (*keys, *((c.name, expression(text, x=c.name)) for c in inner.calls)))
        for text in ("coalesce(x, 0) + 1", "-(coalesce(x, 0) + 1)")
    )
    one = expression("coalesce(x, 0) > 0", x=inner.keys[0])
    other = expression("coalesce(x, 0) <= 0", x=inner.keys[0])
    halves = (replace(inner, input=Filter(inner.input, half)) for half in (one, other))
    return UnionAll((came, went, *halves))


@pytest.mark.parametrize("as_entries", [lambda inner: inner, in_entries], ids=["groups", "entries"])
@pytest.mark.parametrize(
    "core",
    [
        of_two(),
        of_two("<=>"),
        of_keys_that_are_not_joined_by(),
        of_three(),
        of_two_dimensions(),
        of_rows_alone(),
        of_never(),
        of_a_filter_in_the_join(),
    ],
)
def test_both_forms_have_the_same_rows(worlds: Worlds, core, as_entries):
    below = aggregate_below_join(core, TYPES[: len(core.calls)])
    assert below is not None
    assert set(below.inner.tables) < set(core.tables)
    other = presented(below, as_entries(below.inner), core)
    difference = Consolidate(plus(core, negated(other)))
    text = duckdb_text(difference, WorldSources(), "weight")
    for world in range(ROUNDS):
        worlds.expect_nothing(world, f"select * from ({text})", "aggregate below join")


def test_a_sum_has_the_type_of_sparks_sum():
    """Also where its parts have been added up twice, and so have more digits."""
    below = aggregate_below_join(of_two(), (None, None, spark_type("decimal(12,2)"), INT))
    assert below is not None
    types = {name: scalar.sql("spark").partition(" AS ")[2] for name, scalar in below.formulas.items()}
    assert types == {"rows": "", "n": "", "s": "DECIMAL(22, 2)) END", "positive": "BIGINT) END"}


def _of_tables_beside_the_facts(*more: tuple[str, str]) -> Aggregate:
    r, s, t = table("r"), table("s"), table("t")
    columns = {
        f"{name}{i}": column
        for name, one in zip("rst", (r, s, t), strict=True)
        for i, column in enumerate(one.columns)
    }
    predicates = tuple(equal(columns[one], columns[other]) for one, other in (("r0", "s0"), *more))
    return Aggregate(InnerJoin((r, s, t), predicates), r.columns[:1], calls_of(s.columns[1], s.columns[0]))


@pytest.mark.parametrize(
    ("core", "facts"),
    [
        (_of_tables_beside_the_facts(("s1", "t0")), {"s", "t"}),
        (_of_tables_beside_the_facts(("r1", "t0")), {"s"}),
        (_of_tables_beside_the_facts(("r1", "t0"), ("s1", "t1")), {"s"}),
        (_of_tables_beside_the_facts(), {"s"}),
    ],
    ids=["with facts", "with keys", "with both", "with none"],
)
def test_what_is_joined_with_facts_alone_is_below(core: Aggregate, facts: set[str]):
    below = aggregate_below_join(core, TYPES)
    assert below is not None
    assert below.inner.tables == facts


def changed(core: Aggregate, **parts: object) -> Aggregate:
    return replace(core, **parts)


def _cross() -> Relation:
    r, s = table("r"), table("s")
    return Aggregate(InnerJoin((r, s), ()), r.columns, calls_of(s.columns[1], s.columns[0]))


def _compared() -> Relation:
    r, s = table("r"), table("s")
    (k, a), (j, b) = r.columns, s.columns
    return Aggregate(InnerJoin((r, s), (equal(k, j), equal(a, b, "<"))), r.columns, calls_of(b, j))


def _of_both_sides() -> Relation:
    r, s = table("r"), table("s")
    (k, a), (j, b) = r.columns, s.columns
    calls = (Call("s", SUM, expression("x + y", x=a, y=b)),)
    return Aggregate(InnerJoin((r, s), (equal(k, j),)), (k,), calls)


def _of_one_side() -> Relation:
    r, s = table("r"), table("s")
    return Aggregate(
        InnerJoin((r, s), (equal(r.columns[0], s.columns[0]),)),
        r.columns[:1],
        (Call("s", SUM, column(r.columns[1])),),
    )


def _extremum() -> Relation:
    core = of_two()
    return changed(core, calls=(Call("m", MAX, core.calls[1].argument),))


def _projected() -> Relation:
    core = of_two()
    return changed(core, input=Project(core.input, tuple((n, column(n)) for n in core.input.columns)))


@pytest.mark.parametrize(
    ("core", "types"),
    [
        (_cross(), TYPES),
        (_compared(), TYPES),
        (_of_both_sides(), (INT,)),
        (_of_one_side(), (INT,)),
        (_extremum(), (None,)),
        (_projected(), TYPES),
        (changed(of_two(), keys=()), TYPES),
        (changed(of_two(), calls=()), ()),
        (changed(of_two(), signed=True), TYPES),
        (of_two(), (None, None, BIGINT, INT)),
        (of_two(), (None, None, spark_type("double"), INT)),
        (of_two(), (None, None, spark_type("decimal(25,8)"), INT)),
        (table("r"), ()),
    ],
)
def test_there_is_no_other_form(core: Relation, types: tuple[SparkType | None, ...]):
    assert aggregate_below_join(core, types) is None


def test_names_are_free():
    r, s = table("r"), table("s")
    s_too = Project(s, (("part_1", column(s.columns[0])), ("PART_2", column(s.columns[1]))))
    join = InnerJoin((r, s_too), (equal(r.columns[0], "part_1"),))
    below = aggregate_below_join(Aggregate(join, r.columns, (Call("s", SUM, column("PART_2")),)), (INT,))
    assert below is not None
    taken = {"part_1", "part_2", *r.columns}
    assert not {name.lower() for name in (*below.inner.columns[1:], *(c.name for c in below.calls))} & taken
