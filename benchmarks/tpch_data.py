"""TPC-H tables: generated once per scale factor as parquet, loaded as Delta tables with change data feeds.

The files of a table are consecutive key ranges, as in a table that grew by appends, so key ranges can skip
files. `python -m benchmarks.tpch_data --sf 1` only generates.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import SparkSession

from benchmarks.errors import BenchmarkError
from benchmarks.paths import BUILD
from benchmarks.progress import step

ORDERS_PER_SCALE = 1_500_000
LINES_PER_FILE = 400_000  # about 15 MB
_LOADED_AT_ONCE = 2  # the small tables beside the large ones


@dataclass(frozen=True)
class Table:
    """One table of the benchmark: its key, and its rows at scale factor 1."""

    name: str
    key: str
    rows_at_scale_1: int
    grows: bool = True  # nation and region have the same rows at every scale

    def rows(self, scale: float) -> int:
        """Rows at a scale factor; approximate for lineitem (1 to 7 per order)."""
        return round(self.rows_at_scale_1 * scale) if self.grows else self.rows_at_scale_1

    def files(self, scale: float) -> int:
        """The number of files of the table."""
        per_file = LINES_PER_FILE if self.name == "lineitem" else LINES_PER_FILE // 2
        return max(1, round(self.rows(scale) / per_file))


TABLES = (
    Table("region", "r_regionkey", 5, grows=False),
    Table("nation", "n_nationkey", 25, grows=False),
    Table("supplier", "s_suppkey", 10_000),
    Table("customer", "c_custkey", 150_000),
    Table("part", "p_partkey", 200_000),
    Table("partsupp", "ps_partkey", 800_000),
    Table("orders", "o_orderkey", ORDERS_PER_SCALE),
    Table("lineitem", "l_orderkey", 6_001_215),
)


def generate(scale: float) -> Path:
    """Generate the missing parquet files of all tables.

    Returns: a directory with one folder per table.
    Raises: BenchmarkError if the generator is missing or fails.
    """
    directory = BUILD / "tpch" / f"sf{scale:g}"
    missing = [table for table in TABLES if not (directory / table.name).exists()]
    for table in missing:
        _generate_table(table, scale, directory)
    return directory


def _generate_table(table: Table, scale: float, directory: Path) -> None:
    beside_python = str(Path(sys.executable).parent)
    generator = shutil.which("tpchgen-cli", path=beside_python) or shutil.which("tpchgen-cli")
    if generator is None:
        raise BenchmarkError("tpchgen-cli was not found: install it with `pip install tpchgen-cli`")
    # Moved into place when complete, so that an interrupted run leaves no partial table.
    partial = directory / f".{table.name}"
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    options = [
        *("--scale-factor", f"{scale:g}", "--tables", table.name, "--parts", str(table.files(scale))),
        *("--field-ids", "false", "--no-progress", "--quiet", "--output-dir", str(partial)),
    ]
    done = subprocess.run([generator, "parquet", *options], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        said = done.stderr.strip()
        raise BenchmarkError(f"tpchgen-cli could not generate {table.name} at scale factor {scale:g}: {said}")
    (partial / table.name).rename(directory / table.name)
    shutil.rmtree(partial)


def load(spark: SparkSession, parquet: Path, schema: str, *, deletion_vectors: bool = False) -> None:
    """Write all tables as Delta into `schema`, one file per parquet file, with change data feeds on.

    With `deletion_vectors` a DELETE marks rows instead of rewriting files (2 s instead of 12 s at scale
    factor 1), but each read of its changes scans the marked files.
    """
    session = spark.newSession()
    # One task, and so one file, per parquet file.
    session.conf.set("spark.sql.files.openCostInBytes", str(1 << 30))
    session.sql(f"create schema if not exists {schema}")
    properties = (
        "'delta.enableChangeDataFeed' = 'true', "
        f"'delta.enableDeletionVectors' = '{str(deletion_vectors).lower()}'"
    )

    def load_table(table: Table) -> None:
        session.sql(
            f"create or replace table {schema}.{table.name} using delta tblproperties ({properties}) "
            f"as select * from parquet.`{parquet / table.name}`"
        )

    with step(f"load {len(TABLES)} tables"), ThreadPoolExecutor(_LOADED_AT_ONCE) as pool:
        list(pool.map(load_table, sorted(TABLES, key=lambda table: -table.rows_at_scale_1)))


def main() -> None:
    """Generate the files of one scale factor."""
    parser = argparse.ArgumentParser(prog="benchmarks.tpch_data", description="Generate the TPC-H files.")
    parser.add_argument("--sf", type=float, default=1.0, help="scale factor; 1 is 1 GB of text (default: 1)")
    scale = parser.parse_args().sf
    with step(f"generate TPC-H at scale factor {scale:g}"):
        generate(scale)


if __name__ == "__main__":
    main()
