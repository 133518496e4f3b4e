"""Times of MERGE into a large Iceberg state, and of reading it and its changes, by the mode of its writes.

    python scripts/compare_merge_modes.py [rows]

Prints a table for docs/decisions/041-states-stay-copy-on-write.md.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from dbt.adapters.sparkivm.session import open_session
from pyspark.sql import SparkSession

FILES, ROUNDS, MANY = 16, 3, 20
CHANGED = (10, 1_000, 50_000)
MODES = {
    "copy-on-write, format 2": ("copy-on-write", 2),
    "merge-on-read, format 2": ("merge-on-read", 2),
    "merge-on-read, format 3": ("merge-on-read", 3),
}


def seconds(spark: SparkSession, sql: str) -> float:
    started = time.perf_counter()
    spark.sql(sql).collect()
    return time.perf_counter() - started


class State:
    """A state of counts and sums, in files sorted by the key."""

    def __init__(self, spark: SparkSession, name: str, mode: str, format: int, rows: int) -> None:
        self._spark, self._rows, self._table = spark, rows, f"sparkivm.m.{name}"
        self._merges = 0
        spark.sql(
            f"create table {self._table} using iceberg tblproperties ('format-version' = '{format}', "
            f"'write.merge.mode' = '{mode}') as "
            f"select /*+ repartition_by_range({FILES}, k) */ id as k, concat('key of group ', id) as label, "
            f"1L as n, cast(id % 1000 as decimal(20,2)) as s from range({rows})"
        )

    def merge(self, changed: int, *, spread: bool) -> float:
        """Seconds to change this many groups."""
        self._merges += 1
        step = self._rows // changed if spread else 1
        keys = f"select id * {step} + {self._merges} as k, 1L as n, 1.5BD as s from range({changed})"
        return seconds(
            self._spark,
            f"merge into {self._table} as t using ({keys}) as s on t.k <=> s.k "
            "when matched and t.n + s.n = 0 then delete "
            "when matched then update set n = t.n + s.n, s = t.s + s.s "
            "when not matched then insert (k, n, s) values (s.k, s.n, s.s)",
        )

    def read(self) -> float:
        return seconds(self._spark, f"select count(label), sum(n), sum(s) from {self._table}")

    def read_changes(self) -> float:
        """Seconds to read what the last merge changed, as a view above does."""
        line = self._spark.sql(
            f"select snapshot_id from {self._table}.snapshots order by committed_at"
        ).collect()
        old, new = line[-2][0], line[-1][0]
        versions = [
            f"select k, n, s, {w} as w from {self._table} version as of {v}" for v, w in ((new, 1), (old, -1))
        ]
        rows = " union all ".join(versions)
        feed = (
            "select k, n, s, if(_change_type = 'INSERT', 1, -1) as w from "
            f"{self._table}.changes with ('start-snapshot-id' = '{old}', 'end-snapshot-id' = '{new}')"
        )
        deletes = f"select count(*) as n from {self._table}.delete_files"
        source = rows if self._spark.sql(deletes).collect()[0]["n"] else feed
        return seconds(
            self._spark,
            "select count(*) from (select k, n, s, sum(w) as w "
            f"from ({source}) group by k, n, s having sum(w) <> 0)",
        )


def compare(spark: SparkSession, rows: int) -> None:
    """Print the table. The catalog `sparkivm` has to be an Iceberg catalog."""
    spark.sql("create schema if not exists sparkivm.m")
    print(f"{rows} rows in {FILES} files, median of {ROUNDS}, seconds: merge; read all; read the changes\n")
    print(f"| changed groups | {' | '.join(MODES)} |\n|---|{'---|' * len(MODES)}")
    for spread in (True, False):
        for changed in CHANGED:
            cells = []
            for number, (mode, format) in enumerate(MODES.values()):
                state = State(spark, f"s{number}_{changed}_{spread}".lower(), mode, format, rows)
                times = [
                    (state.merge(changed, spread=spread), state.read(), state.read_changes())
                    for _ in range(ROUNDS)
                ]
                cells.append("; ".join(f"{statistics.median(each):.2f}" for each in zip(*times, strict=True)))
            where = "spread" if spread else "neighbors"
            print(f"| {changed}, {where} | {' | '.join(cells)} |", flush=True)
    cells = []
    for number, (mode, format) in enumerate(MODES.values()):
        state = State(spark, f"many{number}", mode, format, rows)
        merged = [state.merge(1_000, spread=True) for _ in range(MANY)]
        cells.append(f"{sum(merged[-5:]) / 5:.2f}; {state.read():.2f}; {state.read_changes():.2f}")
    print(f"| 1000, spread, the last of {MANY} merges | {' | '.join(cells)} |", flush=True)


def main(rows: int) -> None:
    with tempfile.TemporaryDirectory() as directory:
        settings = {
            "spark.master": "local[2]",
            "spark.sql.shuffle.partitions": "2",
            "spark.driver.memory": "3g",
        }
        spark = open_session(settings, Path(directory), "iceberg").session
        compare(spark, rows)
        spark.stop()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2_000_000)
