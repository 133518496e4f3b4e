"""Measure refreshes against full rebuilds: `python -m benchmarks.run --suite first --sf 1 --json FILE`.

Each case is an incremental_view on TPC-H tables, refreshed after small changes, beside the same model as a
table. All runs are real dbt runs; seconds are dbt's `execution_time`. Prints a table and writes the same as
JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from benchmarks.cases import SUITES, choose_cases
from benchmarks.changes import SourceChanges
from benchmarks.dbt_runner import DbtProject
from benchmarks.errors import BenchmarkError, sentence
from benchmarks.event_log import EventLog
from benchmarks.measure import Measurement, Result
from benchmarks.paths import BENCH_PROJECT, BUILD
from benchmarks.progress import headline, step
from benchmarks.report import report
from benchmarks.spark_session import start_spark
from benchmarks.tpch_data import generate, load

SOURCE_SCHEMA = "tpch"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    options = _parser().parse_args(arguments)
    try:
        if options.json and not Path(options.json).absolute().parent.is_dir():
            raise BenchmarkError(f"the folder of {options.json} does not exist")
        results = run(options)
    except (BenchmarkError, PySparkException, Py4JError, OSError) as error:
        print(f"\nbenchmark failed: {sentence(error)}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nbenchmark stopped", file=sys.stderr)
        return 130
    print("\n" + report(results))
    if options.json:
        text = json.dumps([result.as_json() for result in results], indent=2)
        Path(options.json).write_text(text + "\n", encoding="utf-8")
        print(f"\nwritten to {options.json}")
    return 0


def run(options: argparse.Namespace) -> list[Result]:
    """Set everything up, measure the chosen cases, and return a result for each."""
    cases = choose_cases(options.suite, options.case)
    suite = SUITES[options.suite]
    repeat = options.repeat or suite.repeat
    output = BUILD / "bench"
    started = time.perf_counter()

    def say(text: str) -> None:
        print(f"[{time.perf_counter() - started:5.0f} s] {text}", flush=True)

    headline(f"TPC-H at scale factor {options.sf:g}")
    with step("generate"):
        parquet = generate(options.sf)
    with step("start Spark"):
        spark = start_spark(
            output / "spark",
            cores=options.cores,
            memory=options.memory,
            in_memory_catalog=options.catalog == "in-memory",
        )
    load(spark, parquet, SOURCE_SCHEMA, deletion_vectors=options.source_deletion_vectors)
    os.environ["BENCH_SPARK_DIRECTORY"] = str(output / "spark")
    os.environ["BENCH_REFRESH_MODE"] = options.refresh_mode
    tables = DbtProject(BENCH_PROJECT, "table", output)
    views = DbtProject(BENCH_PROJECT, "calibration" if options.calibrate else "view", output)
    with step("parse the dbt project"):
        tables.parse()
        views.parse()

    headline(f"suite {options.suite}, {len(cases)} cases, {repeat} timed rounds")
    changes = SourceChanges(
        spark, SOURCE_SCHEMA, options.sf, placement=options.keys, updated=options.updated, seed=options.seed
    )
    measurement = Measurement(spark, changes, views, tables, EventLog(spark, output / "events"), say)
    try:
        return measurement.measure(cases, repeat, together=suite.together)
    finally:
        spark.stop()


def _repeats(text: str) -> int:
    count = int(text)
    if count < 1:
        raise argparse.ArgumentTypeError("at least 1")
    return count


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="benchmarks.run", description=(__doc__ or "").splitlines()[0])
    add = parser.add_argument
    add("--suite", default="first", help=f"which cases: {', '.join(SUITES)} (default: first)")
    add("--case", action="append", default=[], help="only this case; may be repeated")
    add("--sf", type=float, default=1.0, help="TPC-H scale factor (default: 1)")
    add("--json", help="file to write the results to")
    add("--repeat", type=_repeats, help="timed rounds per case (default: that of the suite)")
    add("--keys", choices=("spread", "recent"), default="spread", help="where the changed orders lie")
    add(
        "--updated",
        choices=("measures", "attributes"),
        default="measures",
        help="columns of customers, parts and suppliers that change: balances and prices, or what queries "
        "filter and join by",
    )
    add(
        "--refresh-mode",
        choices=("auto", "incremental"),
        default="auto",
        help="incremental: whatever it costs",
    )
    add("--seed", type=int, default=1, help="another seed changes other orders (default: 1)")
    add("--cores", type=int, default=2, help="cores that Spark may use (default: 2)")
    add("--memory", default="6g", help="memory of Spark's JVM (default: 6g)")
    add("--catalog", choices=("derby", "in-memory"), default="derby", help="where tables are registered")
    add("--source-deletion-vectors", action="store_true", help="switch deletion vectors on in the sources")
    add("--calibrate", action="store_true", help="build tables in both arms: the ratios show the noise")
    return parser


if __name__ == "__main__":
    sys.exit(main())
