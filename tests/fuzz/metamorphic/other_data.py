"""How a view changes with its data: renamed values, every row twice."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

import sqlglot
from sqlglot import exp

from tests.fuzz.case import Case, shared_world
from tests.fuzz.database import Database
from tests.fuzz.metamorphic.history import first_difference, history, visible
from tests.fuzz.random_data import Row, Value, World
from tests.fuzz.random_queries import INT, STR, QueryMaker, of_kind

_SINGLE = (exp.Min, exp.Max)  # aggregates for which copies of a value do not count


def equality_case(seed: int, depth: int) -> Case:
    """A query that only compares values for equality."""
    del depth  # these queries have one level
    rng = random.Random(seed)
    maker = QueryMaker(rng, moments=False)
    first, other = maker.table(), maker.table()
    columns = first.columns + other.columns
    kind = rng.choice(("join", "left join", "right join", "full join", "left semi join", "left anti join"))
    text = f"{first.text} {kind} {other.text} on {_equality(rng, first.columns, other.columns)}"
    visible_columns = first.columns if "semi" in kind or "anti" in kind else columns
    conditions: list[str] = []
    if rng.random() < 0.5:
        conditions.append(_equality(rng, visible_columns, visible_columns))
    if rng.random() < 0.4:
        third, word = maker.table(), rng.choice(("exists", "not exists"))
        on = _equality(rng, visible_columns, third.columns)
        conditions.append(f"{word} (select 1 from {third.text} where {on})")
    where = f" where {' and '.join(conditions)}" if conditions else ""
    keys = [name for name, _ in rng.sample(visible_columns, rng.choice((1, 2, 3)))]
    items = ", ".join(f"{name} as {maker.fresh('c')}" for name in keys)
    way = rng.choice(("plain", "distinct", "grouped", "window", "except all", "intersect"))
    if way == "grouped":
        counted = rng.choice(visible_columns)[0]
        call = rng.choice(("count(*)", f"count({counted})", f"count(distinct {counted})"))
        having = rng.choice(("", " having count(*) > 1"))
        sql = f"select {items}, {call} as n from {text}{where} group by {', '.join(keys)}{having}"
    elif way == "window":
        sql = f"select {items}, count(*) over (partition by {keys[0]}) as n from {text}{where}"
    elif way in ("except all", "intersect"):
        sql = (
            f"select {items} from {text}{where} {way} select {items} from {text} where {keys[0]} is not null"
        )
    else:
        sql = f"select {'distinct ' if way == 'distinct' else ''}{items} from {text}{where}"
    return Case(seed, sql, shared_world(seed))


def _equality(rng: random.Random, left: Sequence[tuple[str, str]], right: Sequence[tuple[str, str]]) -> str:
    kind = rng.choice((INT, INT, STR))
    mine, other = rng.choice(of_kind(left, kind)), rng.choice(of_kind(right, kind))
    equal = f"{mine} {rng.choice(('=', '=', '<=>', '<>'))} {other}"
    return rng.choice((equal, equal, f"({equal} or {other} is null)", f"({mine} in ({other}, {mine}))"))


def names_do_not_matter(database: Database, case: Case) -> str | None:
    """M8: renaming values in the tables renames them in the view."""
    counts = [item.find(exp.Count) is not None for item in _select(case.sql).expressions]

    def renamed_output(bag: Counter[Any]) -> Counter[Any]:
        return Counter(
            tuple(value if count else _renamed(value) for value, count in zip(row, counts, strict=True))
            for row in bag.elements()
        )

    want = map(renamed_output, visible(history(database, case.sql, case.world, case.seed)))
    have = visible(history(database, case.sql, _world_of(case.world, _renamed_rows), case.seed))
    return first_difference(have, list(want), "of renamed values")


def _renamed(value: Value) -> Value:
    """A bijection that reverses the order."""
    match value:
        case None:
            return None
        case str():
            return {"": "z", "a": "", "A": "b", "b": "A"}[value]
        case float():
            return 100.0 - value
        case Decimal():
            return Decimal("100.00") - value
        case _:
            return 100 - value


def _renamed_rows(rows: Sequence[Row]) -> list[Row]:
    return [tuple(map(_renamed, row)) for row in rows]


def spj_case(seed: int, depth: int) -> Case:
    """Rows of inner joins, or aggregates of them whose values for repeated rows are known."""
    del depth
    rng = random.Random(seed)
    maker = QueryMaker(rng, moments=False, float_aggregates=False)
    rel = maker.table()
    text, columns = rel.text, rel.columns
    for _ in range(rng.choice((0, 0, 1, 1, 2))):
        other = maker.table()
        text += f" join {other.text} on {maker.join_predicate(type(rel)(text, columns), other)}"
        columns = columns + other.columns
    if rng.random() < 0.6:
        inner, within = maker.table(), rng.choice(("in", "not in"))
        number = rng.choice(of_kind(columns, INT))
        test = f"{number} {within} (select {rng.choice(of_kind(inner.columns, INT))} from {inner.text})"
        text += f" where {rng.choice((test, maker.predicate(columns)))}"
    keys = dict(maker.scalar(columns) for _ in range(rng.choice((0, 1, 2))))
    items = [f"{text_} as {maker.fresh('c')}" for text_ in keys]
    way = rng.choice(("plain", "distinct", "grouped", "grouped"))
    if way != "grouped":
        items.append(f"{maker.scalar(columns)[0]} as {maker.fresh('c')}")
        return Case(
            seed,
            f"select {'distinct ' if way == 'distinct' else ''}{', '.join(items)} from {text}",
            shared_world(seed),
        )
    number, any_value = rng.choice(of_kind(columns, INT)), maker.scalar(columns)[0]
    calls = ("count(*)", f"count({any_value})", f"sum({number})", f"min({any_value})", f"max({any_value})")
    calls += (f"count(distinct {any_value})", f"sum(distinct {number})")
    items += [f"{call} as {maker.fresh('c')}" for call in rng.sample(calls, rng.choice((1, 2, 3)))]
    group = f" group by {', '.join(keys)}" if keys else ""
    return Case(seed, f"select {', '.join(items)} from {text}{group}", shared_world(seed))


def twice_is_twice(database: Database, case: Case) -> str | None:
    """M9: with every table row doubled, n joined tables have 2ⁿ times their rows; sums and counts grow likewise."""
    select = _select(case.sql)
    times = 2 ** (1 + len(select.args.get("joins") or ()))
    grouped = bool(select.args.get("group")) or select.find(exp.AggFunc) is not None
    scaled = [_adds_up(item) for item in select.expressions]

    def multiplied(bag: Counter[Any]) -> Counter[Any]:
        if grouped:
            rows = (
                tuple(v * times if by and v is not None else v for v, by in zip(row, scaled, strict=True))
                for row in bag.elements()
            )
            return Counter(rows)
        return bag if select.args.get("distinct") else Counter({row: n * times for row, n in bag.items()})

    want = map(multiplied, visible(history(database, case.sql, case.world, case.seed)))
    have = visible(history(database, case.sql, _world_of(case.world, _doubled), case.seed))
    return first_difference(have, list(want), "of doubled rows")


def _adds_up(item: exp.Expr) -> bool:
    """Whether an item is an aggregate for which each copy counts."""
    call = item.this
    if not isinstance(call, exp.AggFunc) or isinstance(call, _SINGLE):
        return False
    return not isinstance(call.this, exp.Distinct)


def _doubled(rows: Sequence[Row]) -> list[Row]:
    return [*rows, *rows]


def _world_of(world: World, change: Callable[[Sequence[Row]], list[Row]]) -> World:
    """The world with all rows changed."""
    return World(
        {table: change(rows) for table, rows in world.rows.items()},
        tuple(
            {
                table: type(one)(tuple(change(one.deleted)), tuple(change(one.inserted)))
                for table, one in batch.items()
            }
            for batch in world.batches
        ),
    )


def _select(sql: str) -> exp.Expr:
    tree = sqlglot.parse_one(sql, dialect="spark")
    return tree.this if isinstance(tree, exp.SetOperation) else tree
