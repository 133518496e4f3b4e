"""The results as text: one line per case, the strategies of its operators, and a summary."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import geometric_mean

from benchmarks.result import WHOLE, Result
from benchmarks.table import text_table

_COUNTS = ("statements", "jobs", "tasks", "plan_nodes", "rows_read")
_WELL_BELOW = 0.6  # of a rebuild
_MANY_ROWS = 1.1  # times the rows of a rebuild


def report(results: Sequence[Result]) -> str:
    """The printed text of a measurement: seconds, counts, strategies, summary."""
    labels = list(results[0].labels)
    seconds = ("full s", "refresh s", "ratio", "python s", "mode", "apply form", "reason")
    counts = [one for name in (*_COUNTS, "MB read") for one in (name.replace("_", " "), "of full")]
    strategies = [(one.name, strategy_text(one.strategies)) for one in results if one.strategies]
    parts = [
        text_table(("case", *labels, *seconds), [(*_key(one), *_seconds(one)) for one in results]),
        text_table(("case", *labels, *counts), [(*_key(one), *_counts(one)) for one in results]),
    ]
    if strategies:
        parts.append(text_table(("case", "strategy per operator"), strategies))
    views = [one for one in results if one.case != WHOLE]
    groups = {tuple(one.labels.items()): one.labels for one in views}
    for own in groups.values():
        said = ", ".join(f"{key} {value}" for key, value in own.items())
        of_group = summary([one for one in views if one.labels == own])
        parts.append(f"{said}\n{of_group}" if len(groups) > 1 else of_group)
    return "\n\n".join(parts)


def summary(results: Sequence[Result]) -> str:
    """The mean ratio, how many refreshes pay off, and which read more than a rebuild."""
    mean = geometric_mean(one.refresh_s / one.full_s for one in results)
    incremental = [one for one in results if one.mode == "incremental"]
    below = sum(one.ratio < _WELL_BELOW for one in incremental)
    slower = [f"{one.name} {one.ratio:.2f}" for one in results if one.ratio > _MANY_ROWS]
    many = [one for one in incremental if one.work.rows_read > _MANY_ROWS * one.full_work.rows_read]
    factors = [f"{one.name} {one.work.rows_read / max(1, one.full_work.rows_read):.2f}" for one in many]
    return "\n".join(
        [
            f"geometric mean of the {len(results)} ratios: {mean:.3f}",
            f"incremental: {len(incremental)} of {len(results)}, below {_WELL_BELOW:g} of a rebuild: {below}",
            f"above {_MANY_ROWS:g} of a rebuild: {'; '.join(slower) or 'none'}",
            f"incremental and above {_MANY_ROWS:g} of a rebuild's rows read: {'; '.join(factors) or 'none'}",
        ]
    )


def strategy_text(strategies: Mapping[str, str]) -> str:
    """Operators grouped by class and strategy: `Filter ×2 linear; Aggregate affected keys`."""
    counts = Counter((operator.partition("#")[0], strategy) for operator, strategy in strategies.items())
    return "; ".join(
        f"{operator}{f' ×{count}' if count > 1 else ''} {strategy}"
        for (operator, strategy), count in counts.items()
    )


def _key(one: Result) -> tuple[object, ...]:
    return (one.case, *(str(value) for value in one.labels.values()))


def _seconds(one: Result) -> tuple[object, ...]:
    return (one.full_s, one.refresh_s, one.ratio, one.python_s, one.mode, one.apply_form, one.reason)


def _counts(one: Result) -> tuple[object, ...]:
    pairs = [(getattr(one.work, name), getattr(one.full_work, name)) for name in _COUNTS]
    megabytes = [round(work.bytes_read / 1e6, 1) for work in (one.work, one.full_work)]
    return (*(count for pair in pairs for count in pair), *megabytes)
