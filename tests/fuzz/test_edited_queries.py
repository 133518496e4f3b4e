"""A state that is kept for an edited query has the rows that a rebuild would compute."""

from __future__ import annotations

import random
from collections import Counter
from itertools import islice

import duckdb
import pytest

from sparkivm.errors import NotIncremental
from sparkivm.plan.compile_model import ViewPlan
from sparkivm.plan.state_evolution import content_of, from_stored_columns
from sparkivm.spark_sql.relations import select_text
from tests.duckdb_dialect import DUCKDB
from tests.fuzz.case import Fuzzer, random_case
from tests.fuzz.embedded import Sources
from tests.fuzz.run import first_seed
from tests.fuzz.smaller_queries import smaller_queries
from tests.fuzz.view import View, fields_of

_TREES = 60
_ADDED = (
    "q.`{c}` is null",
    "coalesce(q.`{c}`, q.`{c}`)",
    "cast(q.`{c}` as string)",
    "q.`{c}`",
    "case when q.`{d}` is null then q.`{c}` end",
)


@pytest.fixture(scope="module")
def fuzzer() -> Fuzzer:
    return Fuzzer()


def texts(seed: int, query: str, columns: list[str]) -> tuple[str, str]:
    """A query over some columns of a random query, and the same with more."""
    rng = random.Random(seed)
    chosen = rng.sample(columns, rng.randint(1, len(columns)))
    formulas = [rng.choice(_ADDED).format(c=rng.choice(columns), d=rng.choice(columns)) for _ in range(2)]
    base = [f"q.`{name}` as c{i}" for i, name in enumerate(chosen)]
    more = [f"{text} as added{i}" for i, text in enumerate(formulas)]
    edited = [*base, *more]
    rng.shuffle(edited)
    return tuple(f"select {', '.join(items)}\nfrom (\n{query}\n) as q" for items in (base, edited))  # type: ignore[return-value]


def outcome(first: View, second: View) -> str:
    """Build the state of one query, make that of the other from it, and compare it with a rebuild."""
    names, wanted = first.plan.state.names, second.plan.state.names
    kept = [name for name in wanted if name in names]
    if len(kept) < len(names) or meaning(first.plan, names) != meaning(second.plan, kept):
        return "rebuilt"
    content = None if len(kept) == len(wanted) else from_stored_columns(second.plan, kept, kept)
    if content is None and len(kept) < len(wanted):
        return "needs the sources"
    first.build()
    columns = ", ".join(map(DUCKDB.name, wanted))
    made = f"select {columns} from state" if content is None else select_text(content, Sources(0), DUCKDB)
    rebuilt = select_text(second.plan.content, Sources(0), DUCKDB)
    database = first.database
    differs = database.difference(database.rows(made), database.rows(f"select {columns} from ({rebuilt})"))
    assert differs is None, f"{first.sql}\n{second.sql}\n{differs}"
    return "kept" if content is None else "derived"


def meaning(plan: ViewPlan, names: object) -> str:
    return select_text(content_of(plan, names), Sources(0))  # type: ignore[arg-type]


def test_queries_with_more_columns(fuzzer):
    found: Counter[str] = Counter()
    for seed in range(first_seed(), first_seed() + _TREES):
        case = random_case(seed, depth=3)
        fuzzer.database.load(case.world)
        try:
            columns = [field.name for field in fields_of(fuzzer.database, case.sql)]
            found[outcome(*(View(fuzzer.database, sql) for sql in texts(seed, case.sql, columns)))] += 1
        except NotIncremental:
            found["refused"] += 1
    assert found["kept"] + found["derived"] > _TREES / 4, found


def test_queries_that_differ_elsewhere(fuzzer):
    """Their states are not taken for each other's."""
    found: Counter[str] = Counter()
    for seed in range(first_seed(), first_seed() + _TREES // 3):
        case = random_case(seed, depth=3)
        fuzzer.database.load(case.world)
        for smaller in islice(smaller_queries(case.sql), 5):
            try:
                found[outcome(fuzzer.view(case.sql), View(fuzzer.database, smaller))] += 1
            except (NotIncremental, KeyError, duckdb.Error):  # a part of a query need not be a query
                found["refused"] += 1
    assert found["rebuilt"] > found["kept"], found
