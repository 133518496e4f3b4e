"""Every operator, over random tables and over every other operator."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from itertools import count

from sqlglot import exp

from sparkivm.algebra import (
    Aggregate,
    Call,
    Changes,
    Consolidate,
    Copies,
    Empty,
    Filter,
    FullJoin,
    Generate,
    HiddenColumn,
    InnerJoin,
    JoinCondition,
    LeftJoin,
    Lookup,
    OneRow,
    Ordering,
    Pair,
    Project,
    Relation,
    Repeat,
    Scalar,
    Scan,
    SemiJoin,
    Slice,
    Totals,
    UnionAll,
    Unweigh,
    Weigh,
    Window,
    WindowCall,
)
from sparkivm.algebra.aggregates.bit_xor import exact_bits
from sparkivm.algebra.aggregates.count import COUNT, COUNT_ROWS, ROWS, VALUES
from sparkivm.algebra.aggregates.extremum import MAX, MIN
from sparkivm.algebra.aggregates.sum import SUM, exact_sum
from sparkivm.algebra.moment import moment
from sparkivm.algebra.project import renamed
from sparkivm.algebra.scalar import column, integer
from sparkivm.algebra.sql_expression import expression
from sparkivm.spark.data_types import BIGINT

# Makes an operator over the given relation; further inputs are tables. Its first two columns are integers.
Operator = Callable[[Relation], Relation]

DAY = "day"  # a moment with numeric values

_numbers = count()


def table(name: str) -> Scan:
    """Another scan of a table, with column names of its own."""
    number = next(_numbers)
    return Scan(name, ((f"k{number}", "k"), (f"a{number}", "a")))


def _equal(left: Relation, right: Relation, null_safe: bool = False) -> JoinCondition:
    return JoinCondition((Pair(left.columns[0], right.columns[0], null_safe),))


def _fresh(name: str) -> str:
    return f"{name}{next(_numbers)}"


def filter_(a: Relation) -> Relation:
    return Filter(a, expression("x > 0 or y is null", x=a.columns[0], y=a.columns[1]))


def filter_by_a_moment(a: Relation) -> Relation:
    return Filter(a, expression("x > d or y = d", x=a.columns[0], y=a.columns[1], d=moment(DAY)))


def project_a_moment(a: Relation) -> Relation:
    x, y = a.columns[:2]
    items = (
        (_fresh("p"), column(x)),
        (_fresh("p"), expression("case when y < d then d end", y=y, d=moment(DAY))),
    )
    return Project(a, items)


def project(a: Relation) -> Relation:
    return Project(
        a,
        (
            (_fresh("p"), column(a.columns[1])),
            (_fresh("p"), expression("coalesce(x, 0) + 1", x=a.columns[0])),
        ),
    )


def union_all(a: Relation) -> Relation:
    b = table("s")
    first = a.columns[:2]
    return UnionAll((renamed(a, ((n, n) for n in first)), renamed(b, zip(first, b.columns, strict=True))))


def union_with_itself(a: Relation) -> Relation:
    first = a.columns[:2]
    return UnionAll(
        (renamed(a, ((n, n) for n in first)), renamed(a, zip(first, reversed(first), strict=True)))
    )


def repeat(a: Relation) -> Relation:
    return Repeat(a, expression("case when x > 0 then 2 when x = 0 then 0 else 1 end", x=a.columns[0]))


def inner_join(a: Relation) -> Relation:
    b = table("s")
    return InnerJoin((a, b), (expression("x = y", x=a.columns[0], y=b.columns[0]),))


def inner_join_to_the_right(a: Relation) -> Relation:
    b = table("s")
    return InnerJoin((b, a), (expression("x <=> y", x=a.columns[1], y=b.columns[1]),))


def three_way_join(a: Relation) -> Relation:
    b, c = table("s"), table("t")
    on_b = expression("x = y", x=a.columns[0], y=b.columns[0])
    on_c = expression("x = y and u <= v", x=b.columns[1], y=c.columns[0], u=a.columns[1], v=c.columns[1])
    return InnerJoin((a, b, c), (on_b, on_c))


def join_of_groups_through_a_third(a: Relation) -> Relation:
    """The groups are compared with b only; through b they equal a column of a."""
    b, c = table("s"), aggregate(table("r"))
    on_b = expression("x = y", x=a.columns[0], y=b.columns[0])
    on_c = expression("y <=> z", y=b.columns[0], z=c.columns[0])
    return InnerJoin((a, b, c), (on_b, on_c))


def cross_join(a: Relation) -> Relation:
    return InnerJoin((a, table("t")), ())


def join_with_a_constant(a: Relation) -> Relation:
    return InnerJoin((a, Project(OneRow(), ((_fresh("one"), integer(1)),))), ())


def self_join(a: Relation) -> Relation:
    b = table("r")
    return InnerJoin((a, b), (expression("x = y", x=a.columns[0], y=b.columns[0]),))


def left_join(a: Relation) -> Relation:
    b = table("s")
    return LeftJoin(a, b, _equal(a, b))


def left_join_null_safe(a: Relation) -> Relation:
    b = table("s")
    return LeftJoin(a, b, _equal(a, b, null_safe=True))


def left_join_by_two_columns(a: Relation) -> Relation:
    b = table("t")
    pairs = (Pair(a.columns[0], b.columns[0]), Pair(a.columns[1], b.columns[1], null_safe=True))
    return LeftJoin(a, b, JoinCondition(pairs))


def left_join_with_residual(a: Relation) -> Relation:
    b = table("s")
    residual = expression("x < y or y is null", x=a.columns[1], y=b.columns[1])
    return LeftJoin(a, b, JoinCondition(_equal(a, b).pairs, (residual,)))


def left_join_by_inequality(a: Relation) -> Relation:
    b = table("s")
    return LeftJoin(a, b, JoinCondition((), (expression("x < y", x=a.columns[0], y=b.columns[1]),)))


def left_join_on_true(a: Relation) -> Relation:
    return LeftJoin(a, table("s"), JoinCondition())


def null_supplying_side(a: Relation) -> Relation:
    b = table("t")
    return LeftJoin(b, a, _equal(b, a))


def null_supplying_side_with_residual(a: Relation) -> Relation:
    b = table("t")
    residual = expression("x <> y", x=a.columns[1], y=b.columns[1])
    return LeftJoin(b, a, JoinCondition(_equal(b, a).pairs, (residual,)))


def _semi_and_anti_joins() -> Iterator[tuple[str, Operator]]:
    """Each kind of condition; the relation is the side that is kept or the side that is searched."""
    conditions: dict[str, Callable[[Relation, Relation], JoinCondition]] = {
        "join_by_key": _equal,
        "join_by_key_of_the_other_side": lambda a, b: _equal(b, a).flipped,
        "join_null_safe": lambda a, b: _equal(a, b, null_safe=True),
        "join_with_residual": lambda a, b: JoinCondition(
            _equal(a, b).pairs, (expression("x <> y", x=a.columns[1], y=b.columns[1]),)
        ),
        "join_unless_false": lambda a, b: JoinCondition(
            (), (expression("x = y or (x = y) is null", x=a.columns[0], y=b.columns[0]),)
        ),
        "join_on_true": lambda a, b: JoinCondition(),
    }
    for number, (name, on) in enumerate(conditions.items()):

        def joined(
            a: Relation,
            on: Callable[[Relation, Relation], JoinCondition] = on,
            other: bool = name.endswith("other_side"),
            anti: bool = bool(number % 2),
        ) -> Relation:
            b = table("s")
            return SemiJoin(b, a, on(a, b).flipped, anti) if other else SemiJoin(a, b, on(a, b), anti)

        yield f"{'anti' if number % 2 else 'semi'}_{name}", joined


def anti_join_of_the_other_side_by_row(a: Relation) -> Relation:
    b = table("t")
    return SemiJoin(b, a, JoinCondition((), (expression("x < y", x=b.columns[0], y=a.columns[1]),)), True)


def semi_join_with_groups(a: Relation) -> Relation:
    b = aggregate(table("s"))
    return SemiJoin(a, b, _equal(a, b), False)


def semi_join_with_groups_by_some_keys(a: Relation) -> Relation:
    """Several groups may match one row."""
    b = distinct(table("s"))
    return SemiJoin(a, b, _equal(a, b), False)


def full_join(a: Relation) -> Relation:
    b = table("s")
    return FullJoin(a, b, _equal(a, b))


def full_join_with_residual(a: Relation) -> Relation:
    b = table("t")
    residual = expression("x <= y", x=a.columns[1], y=b.columns[1])
    return FullJoin(b, a, JoinCondition(_equal(b, a).pairs, (residual,)))


def window(a: Relation) -> Relation:
    x, y = a.columns[:2]
    order = (Ordering(column(y), False, True),)
    calls = (
        WindowCall(_fresh("w"), expression("row_number()"), order, settled=True),
        WindowCall(_fresh("w"), expression("sum(y)", y=y), order),
    )
    return Window(a, (x,), calls)


def window_over_everything(a: Relation) -> Relation:
    return Window(a, (), (WindowCall(_fresh("w"), expression("count(x)", x=a.columns[0])),))


def generate(a: Relation) -> Relation:
    rows = Scalar(exp.Explode(this=expression("array(x, 7)", x=a.columns[1]).tree.copy()))
    return Generate(a, rows, (_fresh("e"),))


def aggregate(a: Relation) -> Relation:
    x = column(a.columns[1])
    calls = (Call(_fresh("m"), MAX, x), Call(_fresh("n"), COUNT_ROWS), Call(_fresh("c"), COUNT, x))
    return Aggregate(a, a.columns[:1], calls)


def aggregate_without_keys(a: Relation) -> Relation:
    x = column(a.columns[0])
    return Aggregate(a, (), (Call(_fresh("m"), MIN, x), Call(_fresh("s"), SUM, x)))


def totals(a: Relation) -> Relation:
    return _totals(a, a.columns[:1])


def totals_without_keys(a: Relation) -> Relation:
    return _totals(a, ())


def totals_of_which_rows_are_read(a: Relation) -> Relation:
    """Uses only whether a group exists."""
    return Project(
        _totals(a, a.columns[:2], read=False), tuple((_fresh("p"), column(n)) for n in a.columns[:2])
    )


def _totals(a: Relation, keys: tuple[str, ...], read: bool = True) -> Totals:
    x, rows, values = column(a.columns[1]), _fresh("n"), _fresh("c")
    total, bits = _fresh("s"), _fresh("b")
    calls = (
        HiddenColumn(rows, ROWS),
        HiddenColumn(values, VALUES, x),
        HiddenColumn(total, exact_sum(BIGINT, values), x),
        HiddenColumn(bits, exact_bits(BIGINT, values), x),
    )
    names = frozenset({rows, values, total, bits}) if read else frozenset[str]()
    return Totals(a, keys, calls, read=names)


def distinct(a: Relation) -> Relation:
    return Aggregate(a, a.columns[:2], ())


OPERATORS: dict[str, Operator] = {
    operator.__name__: operator
    for operator in (
        filter_,
        filter_by_a_moment,
        project,
        project_a_moment,
        union_all,
        union_with_itself,
        repeat,
        inner_join,
        inner_join_to_the_right,
        three_way_join,
        join_of_groups_through_a_third,
        cross_join,
        join_with_a_constant,
        self_join,
        left_join,
        left_join_null_safe,
        left_join_by_two_columns,
        left_join_with_residual,
        left_join_by_inequality,
        left_join_on_true,
        null_supplying_side,
        null_supplying_side_with_residual,
        anti_join_of_the_other_side_by_row,
        semi_join_with_groups,
        semi_join_with_groups_by_some_keys,
        full_join,
        full_join_with_residual,
        window,
        window_over_everything,
        generate,
        aggregate,
        aggregate_without_keys,
        totals,
        totals_without_keys,
        totals_of_which_rows_are_read,
        distinct,
    )
} | dict(_semi_and_anti_joins())


def over_a_table(name: str) -> Relation:
    """The operator over a table."""
    return OPERATORS[name](table("r"))


def over_other_operators(name: str, rng: random.Random, share: float) -> Iterator[tuple[str, Relation]]:
    """The operator over a random share of all operators, each over a table, with a label."""
    for inner in rng.sample(list(OPERATORS), max(1, round(share * len(OPERATORS)))):
        yield f"{name} over {inner}", OPERATORS[name](OPERATORS[inner](table("r")))


def slice_of(relation: Relation) -> Slice:
    """A slice with three lookups: in a table, in changes, and by both columns, one of them null-safe."""
    first, second = relation.columns[:2]
    s, d_t, r = table("s"), Changes("t", (("key_1", "a"),)), table("r")
    return Slice(
        relation,
        (
            Lookup(s, (Pair(first, s.columns[1]),)),
            Lookup(d_t, (Pair(second, "key_1", null_safe=True),)),
            Lookup(r, (Pair(first, r.columns[0], null_safe=True), Pair(second, r.columns[1]))),
        ),
    )


def zsets() -> dict[str, Relation]:
    """Operators of deltas, over relations that contain duplicate rows."""
    doubled = union_with_itself(table("r"))
    weighed = Weigh(doubled, expression("case when x > 0 then 2 else -1 end", x=doubled.columns[0]))
    return {
        "weigh": weighed,
        "consolidate": Consolidate(weighed),
        "unweigh": Unweigh(weighed, _fresh("w")),
        "slice": slice_of(weighed),
        "copies": Copies(Consolidate(Weigh(doubled, integer(2)))),
        "empty": Empty((_fresh("e"), _fresh("e"))),
        "signed_aggregate": Aggregate(weighed, weighed.columns[:1], (Call(_fresh("n"), ROWS),), signed=True),
    }
