"""The demo: an ordinary dbt project of incremental views, before and after its sources change.

`python -m benchmarks.demo` generates and loads TPC-H tables and creates the views of integration_tests/tpch.
It builds the same models as tables, and refreshes the views, before and after several tables changed. Each
arm has its own process, in which it runs twice: fresh, then warm. At the end each view must equal its SELECT.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass

from benchmarks.bars import Bar, Section, picture
from benchmarks.dbt_runner import Execution, NodeRun
from benchmarks.demo_arms import (
    OUTPUT,
    Arm,
    Conditions,
    in_fresh_process,
    prepare,
    run_tables,
    run_views,
)
from benchmarks.errors import BenchmarkError, sentence
from benchmarks.not_faster import not_faster
from benchmarks.paths import DEMO_PROJECT, REPOSITORY
from benchmarks.progress import headline, step
from benchmarks.table import text_table
from benchmarks.tpch_data import generate
from benchmarks.versions import versions


@dataclass(frozen=True)
class Comparison:
    """Both arms of the demo."""

    conditions: Conditions
    views: Arm
    tables: Arm
    names: Sequence[str]  # of the views, in layer order
    served: Execution | None = None  # a refresh in a fresh process, by a Spark that stays

    def pairs(self, start: str) -> list[tuple[NodeRun, NodeRun]]:
        """Each view's refresh and rebuild in the runs of one start, `fresh` or `warm`."""
        refreshed, rebuilt = (_by_name(getattr(arm, start)) for arm in (self.views, self.tables))
        return [(refreshed[name], rebuilt[name]) for name in self.names]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    parser = argparse.ArgumentParser(prog="benchmarks.demo", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sf", type=float, default=1.0, help="TPC-H scale factor (default: 1)")
    parser.add_argument("--cores", type=int, default=2, help="cores that Spark may use (default: 2)")
    parser.add_argument("--memory", default="4g", help="memory of Spark's JVM (default: 4g)")
    parser.add_argument(
        "--states",
        choices=("iceberg", "delta"),
        default="iceberg",
        help="format of states (default: iceberg)",
    )
    options = parser.parse_args(arguments)
    started = time.perf_counter()
    try:
        compared = compare(Conditions(options.sf, options.cores, options.memory, options.states))
    except (BenchmarkError, BrokenProcessPool, OSError) as error:
        print(f"\ndemo failed: {sentence(error)}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\ndemo stopped", file=sys.stderr)
        return 130
    headline("Result")
    print(summary(compared))
    path = OUTPUT / "demo.svg"
    path.write_text(drawn(compared), encoding="utf-8")
    project = DEMO_PROJECT.relative_to(REPOSITORY)
    print(f"\npicture: {path.relative_to(REPOSITORY)}")
    print(f"The views are still there: cd {project} && dbt show --profiles-dir . --select revenue_by_nation")
    print(f"\nThe demo took {time.perf_counter() - started:.0f} s.")
    return 0


def compare(conditions: Conditions) -> Comparison:
    """All steps of the demo; each step that starts Spark has its own process."""
    scale = conditions.scale
    headline(
        f"1. TPC-H at scale factor {scale:g} ({round(6 * scale, 1):g} million lineitems) as Delta tables"
    )
    OUTPUT.mkdir(parents=True, exist_ok=True)
    with step("generate"):
        parquet = generate(scale)
    created, served = prepare(parquet, conditions)
    tables = in_fresh_process(run_tables, conditions)
    views = in_fresh_process(run_views, conditions)
    names = [node.name for node in sorted(created, key=lambda node: node.path)]
    return Comparison(conditions, views, tables, names, served)


def summary(compared: Comparison) -> str:
    """The whole project, then a line per view, then why some views are not faster."""
    whole = [(start, *_whole(compared, start)) for start in ("fresh", "warm")]
    served = compared.served
    projects = text_table(
        ("the whole dbt run", "rebuild s", "refresh s", "speed-up"),
        [
            (f"{start} process", *_seconds(refreshed.seconds, rebuilt.seconds))
            for start, refreshed, rebuilt in whole
        ]
        + ([("fresh, with `sparkivm server`", "", f"{served.seconds:.2f}", "")] if served else []),
    )
    header = (
        *("view", "fresh: rebuild s", "refresh s", "speed-up", "warm: rebuild s", "refresh s", "speed-up"),
        *("mode", "applied by", "rows", "no-op s"),
    )
    assert compared.views.unchanged is not None
    unchanged = _by_name(compared.views.unchanged)
    rows: list[tuple[object, ...]] = []
    for fresh, (refreshed, rebuilt) in zip(compared.pairs("fresh"), compared.pairs("warm"), strict=True):
        fresh_seconds = _seconds(*(node.seconds for node in fresh))
        rows.append(
            (
                *(refreshed.name, *fresh_seconds, *_seconds(refreshed.seconds, rebuilt.seconds)),
                *(refreshed.mode, refreshed.applied_by, refreshed.rows_changed),
                f"{unchanged[refreshed.name].seconds:.2f}",
            )
        )
    reasons = [
        f"{refreshed.name} is not faster: {not_faster(refreshed, rebuilt)}"
        for refreshed, rebuilt in compared.pairs("warm")
        if refreshed.seconds >= rebuilt.seconds
    ]
    start_s = f"{compared.tables.spark_start_s:.1f} and {compared.views.spark_start_s:.1f} s"
    return "\n".join(
        [
            projects,
            f"Spark's own start is not included: {start_s} here, once per process.",
            "",
            "view by view; mode and rows (+ inserted, - deleted, ~ updated) are those of the warm process",
            text_table(header, rows),
            *(["", *reasons] if reasons else []),
        ]
    )


def drawn(compared: Comparison) -> str:
    """The picture: the whole run both ways, then each view in a warm process."""
    refreshed, rebuilt = _whole(compared, "warm")
    conditions = compared.conditions
    whole = [
        Bar(label, again.seconds, first.seconds)
        for label, start in (("in a fresh process", "fresh"), ("in a warm process", "warm"))
        for first, again in [_whole(compared, start)]
    ]
    seconds = f"{refreshed.seconds:.0f} s instead of {rebuilt.seconds:.0f} s"
    by_view = [Bar(view.name, table.seconds, view.seconds) for view, table in compared.pairs("warm")]
    return picture(
        f"dbt run after a change, in a warm process: {seconds}",
        f"{len(by_view)} models in three layers over TPC-H at scale factor {conditions.scale:g}; "
        f"five tables changed; states in {conditions.states.title()}",
        [Section("the whole dbt run", whole), Section("view by view, in a warm process", by_view)],
        versions(conditions.cores),
    )


def _whole(compared: Comparison, start: str) -> tuple[Execution, Execution]:
    """The refresh and the rebuild of the whole project."""
    return getattr(compared.views, start), getattr(compared.tables, start)


def _by_name(run: Execution) -> dict[str, NodeRun]:
    return {node.name: node for node in run.nodes}


def _seconds(refresh_s: float, rebuild_s: float) -> tuple[str, str, str]:
    return f"{rebuild_s:.2f}", f"{refresh_s:.2f}", f"{rebuild_s / refresh_s:.1f}x"


if __name__ == "__main__":
    sys.exit(main())
