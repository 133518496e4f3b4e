"""A mirror follows random sources: DuckDB computes the texts, and the test does the MERGE as Spark does it."""

from __future__ import annotations

import random
from collections import Counter
from functools import cache

import duckdb
import pytest
import sqlglot

from sparkivm.changes.mirror_texts import MirrorTexts
from sparkivm.engine import Field
from sparkivm.names import TableName
from tests.fuzz.database import insert_statement
from tests.fuzz.embedded import new_connection

NAMES = TableName("s", "src"), TableName("s", "mirror")
PLAIN = ("id", "x")
NAMED_LIKE_OURS = ("__ivm_w", "__IVM_gone")


def texts(*key: str, columns: tuple[str, str] = PLAIN) -> MirrorTexts:
    return MirrorTexts(*NAMES, columns, key)


@cache
def connection() -> duckdb.DuckDBPyConnection:
    found = new_connection()
    found.execute("create schema s")
    return found


class World:
    """A source and its mirror, as bags of rows."""

    def __init__(self, source: list[tuple], mirror: list[tuple], columns: tuple[str, str]) -> None:
        self._connection = connection()
        for name, rows in (("s.src", source), ("s.mirror", mirror)):
            declared = f"{columns[0]} int, {columns[1]} int"
            self._connection.execute(
                f"create or replace table {name} ({declared}); {insert_statement(name, rows)}"
            )

    def query(self, sql: str) -> list[tuple]:
        return self._connection.execute(self._duck(sql)).fetchall()

    def stage(self, sql: str) -> None:
        self._connection.execute(f"create or replace temp table d as {self._duck(sql)}")

    @staticmethod
    def _duck(sql: str) -> str:
        sql = sql.replace("array_repeat(0, ", "range(")
        return sqlglot.transpile(sql, "spark", "duckdb")[0]


def followed(
    source: list[tuple], mirror: list[tuple], *key: str, columns: tuple[str, str] = PLAIN
) -> Counter[tuple] | None:
    """The mirror afterwards; None if it finds that the key is not unique."""
    world, t = World(source, mirror, columns), texts(*key, columns=columns)
    world.stage(t.differences("s.mirror"))
    came, gone, several = world.query(t.counts("d"))[0]
    if several:
        return None
    if not gone:
        return Counter(mirror) + Counter(world.query(t.inserted("d"))) if came else Counter(mirror)
    result, new = Counter(mirror), Counter()
    for *row, is_gone in world.query(t.merged("d")):
        hit = [r for r in result if (r[0] == row[0] if key else is_gone and r == tuple(row))]
        assert len(hit) <= 1 or not key
        if not hit:
            assert not is_gone, "there is no row to delete"
            new[tuple(row)] += 1
            continue
        taken = result.pop(hit[0])
        if not is_gone:
            assert taken == 1
            new[tuple(row)] += 1
    return result + new


@pytest.mark.parametrize("columns", [PLAIN, NAMED_LIKE_OURS])
@pytest.mark.parametrize("seed", range(25))
def test_whole_rows(seed, columns):
    rng = random.Random(seed)
    values = [(i, x) for i in (1, 2, None) for x in (1, None)]
    source, mirror = ([rng.choice(values) for _ in range(rng.randrange(9))] for _ in range(2))
    assert followed(source, mirror, columns=columns) == Counter(source)


@pytest.mark.parametrize("columns", [PLAIN, NAMED_LIKE_OURS])
@pytest.mark.parametrize("seed", range(25))
def test_by_key(seed, columns):
    rng = random.Random(seed)
    keys = [1, 2, 3, 4, None]
    source, mirror = (
        [(key, rng.choice([1, 2, None])) for key in keys if rng.random() < 0.7] for _ in range(2)
    )
    key = columns[0]
    assert followed(source, mirror, key, columns=columns) == Counter(source)
    if source:
        assert followed([*source, (source[0][0], 7)], mirror, key, columns=columns) is None
        assert followed(source, [*mirror, (5, 1), (5, 2)], key, columns=columns) is None


def test_zeros_of_two_signs_are_two_values_of_a_column_of_floats():
    """The key alone may be either zero: Spark groups both under 0.0."""
    text = MirrorTexts(*NAMES, ("id", "f"), conflated=(Field("f", "float"),)).differences("s.mirror")
    assert text.startswith("select `id`, first(`f`) as `f`, ")
    assert "\ngroup by `id`, `f`, cast(`f` as string)\n" in text


def test_clauses():
    assert texts().on == "s.__ivm_gone and t.`id` <=> s.`id` and t.`x` <=> s.`x`"
    assert texts("id").on == "t.`id` <=> s.`id`"
    assert texts("id").clauses[:2] == [
        "when matched and s.__ivm_gone then delete",
        "when matched then update set t.`id` = s.`id`, t.`x` = s.`x`",
    ]
    assert texts(columns=NAMED_LIKE_OURS).on == (
        "s.__ivm_gone and t.`__ivm_w` <=> s.`__ivm_of_source_w` and t.`__IVM_gone` <=> s.`__ivm_of_source_gone`"
    )
