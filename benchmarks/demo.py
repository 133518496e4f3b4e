"""The demo: an ordinary dbt project of incremental views, before and after its sources change.

`python -m benchmarks.demo` makes and loads TPC-H tables, creates the views of integration_tests/tpch, changes
several tables, refreshes the views, rebuilds the same models as tables to compare, tests that each view
equals its SELECT, and runs once more when nothing has changed.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from benchmarks.changes import INSERTS_AND_DELETES, RowCounts, SourceChanges
from benchmarks.dbt_runner import DbtProject, NodeRun
from benchmarks.errors import BenchmarkError, sentence
from benchmarks.paths import BUILD, DEMO_PROJECT, REPOSITORY
from benchmarks.plot import Bar, draw, finding
from benchmarks.progress import headline, step
from benchmarks.spark_session import start_spark
from benchmarks.table import text_table
from benchmarks.tpch_data import generate, load

SOURCE_SCHEMA = "tpch"
OUTPUT = BUILD / "demo"


@dataclass(frozen=True)
class ModelRuns:
    """What became of one model in the runs after the change."""

    refreshed: NodeRun
    rebuilt: NodeRun  # the same model as a table
    unchanged: NodeRun  # the last run


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    parser = argparse.ArgumentParser(prog="benchmarks.demo", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sf", type=float, default=2.0, help="TPC-H scale factor (default: 2)")
    parser.add_argument("--cores", type=int, default=2, help="cores that Spark may use (default: 2)")
    parser.add_argument("--memory", default="4g", help="memory of Spark's JVM (default: 4g)")
    options = parser.parse_args(arguments)
    started = time.perf_counter()
    try:
        show(options.sf, options.cores, options.memory)
    except (BenchmarkError, PySparkException, Py4JError, OSError) as error:
        print(f"\ndemo failed: {sentence(error)}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\ndemo stopped", file=sys.stderr)
        return 130
    print(f"\nThe demo took {time.perf_counter() - started:.0f} s.")
    return 0


def show(scale: float, cores: int, memory: str) -> None:
    """All steps of the demo, then its table and its picture."""
    headline(
        f"1. TPC-H at scale factor {scale:g} ({round(6 * scale, 1):g} million lineitems) as Delta tables"
    )
    with step("generate"):
        parquet = generate(scale)
    with step("start Spark (the first time, Delta is downloaded)"):
        spark = start_spark(DEMO_PROJECT / ".spark", cores=cores, memory=memory)
    try:
        load(spark, parquet, SOURCE_SCHEMA)
        models = _run_all(spark, scale)
    finally:
        spark.stop()
    bars = [Bar(model.refreshed.name, model.rebuilt.seconds, model.refreshed.seconds) for model in models]
    headline("Result")
    print(summary(models))
    for model in models:
        if model.refreshed.mode != "incremental":
            print(f"not incremental: {model.refreshed.name}, {model.refreshed.mode} {model.refreshed.reason}")
    print(f"\n{finding(bars)}.")
    subtitle = f"TPC-H at scale factor {scale:g}, after changes in five tables; local Spark, {cores} cores"
    for path in draw(bars, subtitle, OUTPUT):
        print(f"picture: {path.relative_to(REPOSITORY)}")
    project = DEMO_PROJECT.relative_to(REPOSITORY)
    print(f"The views are still there: cd {project} && dbt show --profiles-dir . --select revenue_by_nation")


def _run_all(spark: SparkSession, scale: float) -> list[ModelRuns]:
    views = DbtProject(DEMO_PROJECT, "views", OUTPUT, quiet=False)
    tables = DbtProject(DEMO_PROJECT, "tables", OUTPUT, quiet=False)

    headline("2. dbt run: the views are created")
    created = [run for run in views.run() if run.mode == "create"]

    headline("3. The sources change")
    _change_sources(SourceChanges(spark, SOURCE_SCHEMA, scale, placement="recent"))

    headline("4. dbt run: the views are refreshed from the changes")
    refreshed = _by_name(views.run())

    headline("5. dbt run --target tables: the same models rebuilt as tables, to compare")
    rebuilt = _by_name(tables.run())

    headline("6. dbt test: each view equals its SELECT, row by row")
    tests = views.test()
    if len(tests) < len(created):
        raise BenchmarkError(f"only {len(tests)} of {len(created)} views have a consistency test")

    headline("7. dbt run: nothing has changed")
    unchanged = _by_name(views.run())
    by_layer = sorted(created, key=lambda run: run.path)
    for run in (unchanged[view.name] for view in by_layer):
        if run.mode != "no_op":
            raise BenchmarkError(
                f"nothing had changed, but {run.name} was refreshed ({run.mode}) {run.reason}"
            )
    return [ModelRuns(refreshed[run.name], rebuilt[run.name], unchanged[run.name]) for run in by_layer]


def _change_sources(changes: SourceChanges) -> None:
    """Inserts, updates, deletes and a MERGE, in five tables; prints what each changed."""
    steps: tuple[tuple[str, Callable[[], RowCounts]], ...] = (
        ("insert 0.1 % of orders, delete as many recent ones", partial(changes.apply, INSERTS_AND_DELETES)),
        ("update lineitems: some of recent orders are returned", changes.update_lineitems),
        ("update customers: some move to another nation", changes.update_customers),
        ("merge suppliers: new balances, new suppliers", changes.merge_suppliers),
        ("delete parts", changes.delete_parts),
    )
    for text, change in steps:
        with step(text):
            counts = change()
        print(f"  {counts}")


def _by_name(runs: Sequence[NodeRun]) -> dict[str, NodeRun]:
    return {run.name: run for run in runs}


def summary(models: Sequence[ModelRuns]) -> str:
    """A line per view: what its refresh did, and its seconds beside a rebuild's and the last run's."""
    header = ("view", "mode", "applied by", "rows", "refresh s", "rebuild s", "speed-up", "no-op s")
    rows: list[tuple[object, ...]] = []
    for model in models:
        refreshed, rebuilt_s = model.refreshed, model.rebuilt.seconds
        rows.append(
            (
                *(refreshed.name, refreshed.mode, refreshed.apply_form, refreshed.rows_changed),
                *_seconds(refreshed.seconds, rebuilt_s, model.unchanged.seconds),
            )
        )
    refresh_s = sum(model.refreshed.seconds for model in models)
    rebuild_s = sum(model.rebuilt.seconds for model in models)
    no_op_s = sum(model.unchanged.seconds for model in models)
    rows.append(("all", "", "", "", *_seconds(refresh_s, rebuild_s, no_op_s)))
    return text_table(header, rows)


def _seconds(refresh_s: float, rebuild_s: float, no_op_s: float) -> tuple[str, str, str, str]:
    return f"{refresh_s:.2f}", f"{rebuild_s:.2f}", f"{rebuild_s / refresh_s:.1f}x", f"{no_op_s:.2f}"


if __name__ == "__main__":
    sys.exit(main())
