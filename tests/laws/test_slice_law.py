"""A slice == the rows whose key is in any of its lookups, as EXISTS finds them, each row once."""

from __future__ import annotations

from sparkivm.algebra import Slice
from tests.duckdb_dialect import duckdb_text
from tests.laws.operators import slice_of, table, zsets
from tests.laws.worlds import Worlds, WorldSources

ROUNDS = 60


def violation(found: Slice) -> str:
    """SQL that finds the rows that differ between a slice and EXISTS over any of its lookups."""
    weight = "weight"
    mine = duckdb_text(found, WorldSources(), weight)
    whole = duckdb_text(found.input, WorldSources(), weight)
    conditions = []
    for lookup in found.lookups:
        keys = duckdb_text(lookup.keys, WorldSources())
        equal = " and ".join(
            f"x.{pair.left} {'is not distinct from' if pair.null_safe else '='} y.{pair.right}"
            for pair in lookup.pairs
        )
        conditions.append(f"exists (select 1 from ({keys}) as y where {equal})")
    names = ", ".join(found.columns)
    return (
        f"select {names}, sum(weight) from (\n"
        f"select {names}, weight from ({mine})\nunion all\n"
        f"select {names}, -weight from ({whole}) as x where {' or '.join(conditions)}\n"
        ") group by all having sum(weight) <> 0"
    )


def test_a_slice_holds_what_its_lookups_ask_for(worlds: Worlds):
    three = slice_of(table("r"))
    slices = [
        three,
        Slice(three.input, three.lookups[:1]),
        Slice(three.input, three.lookups[1:]),
        zsets()["slice"],
    ]
    for found in slices:
        text = violation(found)
        for world in range(ROUNDS):
            worlds.expect_nothing(world, text, "slice")
