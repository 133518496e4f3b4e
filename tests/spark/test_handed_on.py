"""Views above one that was computed again read the rows that it hands on, on real tables of both formats."""

from __future__ import annotations

import pytest

from sparkivm.refresh.sources.pins import Pins
from tests.nightly import few_of
from tests.spark.lab import Lab

pytestmark = [pytest.mark.spark, pytest.mark.slow]

ROWS = 2_000
BELOW = (
    "select t.id, cast(t.k as decimal(10, 2)) as k, t.note, u.name, t.x / u.y as ratio "
    "from t left join u on t.k = u.k and u.y <> 0"
)
ABOVE = (
    "select name, count(*) as n, sum(k) as k, max(note) as note from v group by name",
    "select v.id, v.ratio, u.y from v join u on u.name = v.name",
)


@pytest.mark.parametrize("states", few_of(["delta", "iceberg"], ["delta"]))
def test_views_above_read_what_changed(spark, states):
    lab = Lab(spark, f"handed_on_{states}", sources="delta", states=states)
    lab.table("t", "id int, k int, x double, note string")
    lab.table("u", "k int, y double, name string", "(0, 0.0, 'a')", "(1, 2.5, 'b')", "(2, -0.0, '')")
    lab.run(f"insert into t select id, id % 4, id / 3, concat('n', id) from range({ROWS})")
    below = lab.view("v", BELOW, refresh_mode="auto").build()
    readers = [lab.view(f"w{number}", sql).build() for number, sql in enumerate(ABOVE)]
    for batch in (
        ("update t set note = null where id < 3", "insert into t values (9, 1, -0.0, ''), (9, 1, 0.0, '')"),
        (
            "update u set y = 4 where k = 2",
            "delete from t where id > 1990",
            "insert into u values (1, 2.5, 'b')",
        ),
        ("delete from u where k = 1", "insert into t values (null, null, double('NaN'), 'z')"),
    ):
        lab.run(*batch)
        run = Pins()
        assert below.must_be("incremental", pins=run).apply_form == "recompute"
        for number, reader in enumerate(readers):
            statements = "".join(reader.must_be("incremental", pins=run).statements)
            assert ("`t` version as of" in statements or "`t`'" in statements) == (number == 0), statements
        run.memory.drop(lab.engine)
