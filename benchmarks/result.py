"""One line of a result: medians of the timed rounds, and the work of the counted round."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from statistics import median
from typing import Any

from benchmarks.dbt_runner import Execution
from benchmarks.event_log import Work

WHOLE = "dbt run"  # the case of a run of all models beside the models' own cases


@dataclass
class Timings:
    """The timed runs of one case, and the work of the counted round."""

    case: str
    refreshes: list[Execution] = field(default_factory=list)
    builds: list[Execution] = field(default_factory=list)
    changes_s: list[float] = field(default_factory=list)  # of the statements that changed the sources
    refresh_work: Work = field(default_factory=Work)
    build_work: Work = field(default_factory=Work)


@dataclass(frozen=True)
class Result:
    """One case of a suite: its refresh compared with its full build."""

    case: str
    refresh_s: float
    full_s: float
    mode: str
    apply_form: str = ""
    strategies: Mapping[str, str] = field(default_factory=dict)  # operator -> strategy, for a single view
    python_s: float | None = None  # parse, compile and decide; no Spark
    change_s: float | None = None  # the statements that changed the sources
    reason: str = ""
    explanation: str = ""
    refresh_runs_s: Sequence[float] = ()
    full_runs_s: Sequence[float] = ()
    work: Work = field(default_factory=Work)
    full_work: Work = field(default_factory=Work)
    labels: Mapping[str, Any] = field(default_factory=dict)  # what distinguishes rows of the same case
    beside: Mapping[str, Any] = field(default_factory=dict)  # further values of the suite

    @property
    def ratio(self) -> float:
        return round(self.refresh_s / self.full_s, 3)

    @property
    def name(self) -> str:
        """The case with its labels: `aggregate, rows 1000`."""
        return ", ".join([self.case, *(f"{key} {value}" for key, value in self.labels.items())])

    @staticmethod
    def of(timings: Timings, labels: Mapping[str, Any] | None = None) -> Result:
        """Summarize the runs of one case."""
        refreshes, builds = timings.refreshes, timings.builds
        nodes = [node for refresh in refreshes for node in refresh.nodes]
        one_view = nodes[-1] if len(refreshes[-1].nodes) == 1 else None
        compile_s = [sum(float(n.response.get("compile_s", 0)) for n in one.nodes) for one in refreshes]
        return Result(
            case=timings.case,
            refresh_s=_median(one.seconds for one in refreshes),
            full_s=_median(one.seconds for one in builds),
            mode=seen(node.mode for node in nodes),
            apply_form=seen(node.apply_form for node in nodes),
            strategies=one_view.strategies if one_view else {},
            python_s=round(median(compile_s), 4),
            change_s=_median(timings.changes_s) if timings.changes_s else None,
            # For several views only the codes, because their sentences differ.
            reason=seen(
                node.reason if one_view else str(node.response.get("reason") or "") for node in nodes
            ),
            explanation=str(one_view.response.get("explanation") or "") if one_view else "",
            refresh_runs_s=[round(one.seconds, 3) for one in refreshes],
            full_runs_s=[round(one.seconds, 3) for one in builds],
            work=timings.refresh_work,
            full_work=timings.build_work,
            labels=labels or {},
        )

    def as_json(self) -> dict[str, Any]:
        """A flat object; counts of the full build have the prefix `full_`."""
        values = asdict(self)
        work, full_work, labels, beside = (
            values.pop(key) for key in ("work", "full_work", "labels", "beside")
        )
        first = {key: values.pop(key) for key in ("full_s", "refresh_s")}
        counts = work | {f"full_{key}": value for key, value in full_work.items()}
        first |= {"ratio": self.ratio, **counts}
        return {"case": values.pop("case"), **labels, **first, **values, **beside}


def seen(values: Iterable[str]) -> str:
    """The value if it is the same in all runs, otherwise all values with counts: `append ×2, merge ×1`."""
    counts = Counter(values)
    if len(counts) <= 1:
        return next(iter(counts), "")
    return ", ".join(f"{value or '-'} ×{n}" for value, n in counts.most_common())


def _median(seconds: Iterable[float]) -> float:
    return round(median(seconds), 3)
