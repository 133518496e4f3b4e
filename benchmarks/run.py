"""Measure refreshes against full rebuilds: `python -m benchmarks.run --suite fixed --json FILE`.

All runs are real dbt runs of incremental views, and of the same models as tables, after the same changes. The
command prints a table and writes it beside the JSON as text and as a picture.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from benchmarks.bench import Bench, Outcome
from benchmarks.errors import BenchmarkError, sentence
from benchmarks.output import as_text, write
from benchmarks.progress import headline
from benchmarks.suites import demo, fixed, growth, project, seeds, tpch
from benchmarks.versions import versions


@dataclass(frozen=True)
class Suite:
    """A set of cases to measure."""

    run: Callable[[Bench], Outcome]
    what: str
    scales: Sequence[float] = (1.0,)  # defaults
    has_keys: bool = False  # whether `--keys` applies


SUITES: Mapping[str, Suite] = {
    "demo": Suite(demo.run, "the demo's project, in fresh processes and in warm ones"),
    "fixed": Suite(fixed.run, "one changed row in small and in large tables"),
    "tpch": Suite(tpch.run, "the 22 queries of TPC-H, changes in every table", has_keys=True),
    "project": Suite(project.run, "50 models in five layers, by the share that changed", has_keys=True),
    "seeds": Suite(seeds.run, "views and changes of two papers, beside their numbers"),
    "growth": Suite(growth.run, "the same change at several scale factors", scales=(1.0, 5.0), has_keys=True),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    options = _parser().parse_args(arguments)
    suite = SUITES[options.suite]
    options.sf = options.sf or list(suite.scales)
    bench = Bench(options)
    try:
        if options.json and not options.json.absolute().parent.is_dir():
            raise BenchmarkError(f"the folder of {options.json} does not exist")
        if len(options.sf) > 1 and len(suite.scales) == 1:
            raise BenchmarkError(f"suite {options.suite} takes one scale factor")
        headline(f"suite {options.suite}: {suite.what}")
        outcome = suite.run(bench)
    except (BenchmarkError, PySparkException, Py4JError, OSError) as error:
        print(f"\nbenchmark failed: {sentence(error)}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nbenchmark stopped", file=sys.stderr)
        return 130
    finally:
        bench.stop()
    print("\n" + as_text(outcome))
    if options.json:
        paths = write(outcome, options.suite, _conditions(options), versions(options.cores), options.json)
        print(f"\nwritten to {', '.join(map(str, paths))}")
    return 0


def _conditions(options: argparse.Namespace) -> str:
    """The conditions of the run, for the result files."""
    suite = SUITES[options.suite]
    parts = [suite.what]
    if options.suite == "fixed":
        parts.append(f"{' and '.join(f'{rows:,}' for rows in options.rows)} rows")
    else:
        parts.append(f"scale factor {' and '.join(f'{scale:g}' for scale in options.sf)}")
    if suite.has_keys:
        parts.append(f"changed keys {options.keys}")
    parts.append(f"states in {options.states.title()}")
    return "; ".join(parts)


def _list_of(kind: Callable[[str], float]) -> Callable[[str], list[float]]:
    def numbers(text: str) -> list[float]:
        values = [kind(part) for part in text.split(",")]
        if min(values) <= 0:
            raise argparse.ArgumentTypeError("above 0")
        return values

    return numbers


def _positive(text: str) -> int:
    count = int(text)
    if count < 1:
        raise argparse.ArgumentTypeError("at least 1")
    return count


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="benchmarks.run", description=(__doc__ or "").splitlines()[0])
    add = parser.add_argument
    add("--suite", choices=SUITES, default="fixed", help="what to measure (default: fixed)")
    add("--case", action="append", default=[], help="only this case; may be repeated")
    add(
        "--sf",
        type=_list_of(float),
        help="scale factor of TPC-H, and of suite project; several with commas for suite growth "
        "(default: 1; growth: 1,5)",
    )
    add("--json", type=Path, help="file for the results; text and picture are written beside it")
    add("--repeat", type=_positive, help="timed rounds per case (default: set by the suite)")
    add("--keys", choices=("spread", "recent"), default="spread", help="where the changed rows lie")
    add(
        "--updated",
        choices=("measures", "attributes"),
        default="measures",
        help="columns of customers, parts and suppliers that suite tpch changes: balances and prices, or "
        "those that queries filter and join by",
    )
    add(
        "--rows",
        type=_list_of(int),
        default=[1000, 1_000_000],
        help="sizes of suite fixed (default: 1000,1000000)",
    )
    add("--commits", type=_positive, default=100, help="commits that suite fixed merges (default: 100)")
    add("--views", type=_positive, default=200, help="views of its large no-op (default: 200)")
    add("--threads", type=_positive, default=1, help="dbt's threads (default: 1)")
    add(
        "--refresh-mode",
        choices=("auto", "incremental"),
        default="auto",
        help="incremental: even if a rebuild is cheaper",
    )
    add("--seed", type=int, default=1, help="a different seed changes different orders (default: 1)")
    add("--cores", type=int, default=2, help="cores that Spark may use (default: 2)")
    add("--memory", default="6g", help="memory of Spark's JVM (default: 6g)")
    add("--catalog", choices=("derby", "in-memory"), default="derby", help="where tables are registered")
    add("--source-deletion-vectors", action="store_true", help="switch on deletion vectors in TPC-H's tables")
    add("--states", choices=("delta", "iceberg"), default="delta", help="format of states (default: delta)")
    add(
        "--calibrate",
        action="store_true",
        help="build tables in both arms, so that the ratios show the noise",
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
