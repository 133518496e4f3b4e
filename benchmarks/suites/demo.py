"""The demo as a suite: the whole `dbt run` and each view; `start` is `fresh` or `warm`."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.bench import Bench, Outcome
from benchmarks.dbt_runner import Execution
from benchmarks.demo import Comparison, compare, drawn, summary
from benchmarks.demo_arms import Conditions
from benchmarks.errors import BenchmarkError
from benchmarks.event_log import Work
from benchmarks.result import WHOLE, Result, Timings


def run(bench: Bench) -> Outcome:
    """Run the demo, then once more per arm to count; both starts show these counts."""
    options = bench.options
    if options.case or options.threads != 1:
        raise BenchmarkError("suite demo runs all models of its project, in one thread")
    (scale,) = options.sf
    compared = compare(Conditions(scale, options.cores, options.memory, options.states, counts=True))
    found = [one for start in ("fresh", "warm") for one in results(compared, start)]
    return Outcome(found, [summary(compared)], drawn(compared))


def results(compared: Comparison, start: str) -> Sequence[Result]:
    """A row for the whole run, then one per view."""
    views, tables = compared.views, compared.tables
    refreshed: Execution = getattr(views, start)
    rebuilt: Execution = getattr(tables, start)
    found: list[Result] = []
    for name in (WHOLE, *compared.names):
        models = () if name == WHOLE else (name,)
        works = [
            arm.work if name == WHOLE else (arm.work_of_models or {}).get(name) for arm in (views, tables)
        ]
        timings = Timings(
            name,
            [refreshed.of(models)],
            [rebuilt.of(models)],
            refresh_work=works[0] or Work(),
            build_work=works[1] or Work(),
        )
        found.append(Result.of(timings, {"start": start}))
    return found
