"""The same number of changed orders at several scale factors: does a refresh cost more with larger tables?"""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.bench import Bench, Outcome
from benchmarks.cases import Case, chosen
from benchmarks.changes import Recipe
from benchmarks.event_log import Work
from benchmarks.result import Result

MODELS = ("pricing_summary", "six_way_join_aggregate", "three_way_join")
_SHARE = 0.001  # of the orders at the smallest scale factor


def cases(scale: float, smallest: float) -> list[Case]:
    """The cases at one scale factor; each changes as many orders as at the smallest."""
    share = _SHARE * smallest / scale
    recipe = Recipe("as many orders inserted and deleted at each scale", inserted=share, deleted=share)
    return [Case(model, (model,), recipe) for model in MODELS]


def run(bench: Bench) -> Outcome:
    """Measure at each scale factor, the smallest first."""
    scales = sorted(bench.options.sf)
    results: list[Result] = []
    for scale in scales:
        of = f"_sf{scale:g}".replace(".", "_")
        sources = bench.tpch(scale, of)
        measurement = bench.measurement(sources, *bench.arms(of=of))
        at_scale = chosen(cases(scale, scales[0]), bench.options.case)
        results += measurement.measure(at_scale, bench.repeat(5), labels={"sf": scale})
        bench.spark.sql(f"drop schema tpch{of} cascade")
    return Outcome(results, growth(results))


def growth(results: Sequence[Result]) -> list[str]:
    """The growth of refreshes and rebuilds, in seconds and in rows read."""
    by_case: dict[str, list[Result]] = {}
    for one in results:
        by_case.setdefault(one.case, []).append(one)
    lines: list[str] = []
    for case, found in by_case.items():
        small, large = found[0], found[-1]
        seconds = large.refresh_s / small.refresh_s, large.full_s / small.full_s
        rows = _rows(large.work, small.work), _rows(large.full_work, small.full_work)
        lines.append(
            f"{case}, sf {small.labels['sf']:g} to {large.labels['sf']:g}: "
            f"refresh {seconds[0]:.2f} times the seconds and {rows[0]:.2f} times the rows read, "
            f"rebuild {seconds[1]:.2f} and {rows[1]:.2f} times"
        )
    return lines


def _rows(large: Work, small: Work) -> float:
    return large.rows_read / max(1, small.rows_read)
