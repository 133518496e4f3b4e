"""What became of each model of a project, and of a project as a whole."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

Kind = Literal["incremental", "full", "not tried", "failed"]


@dataclass(frozen=True)
class Outcome:
    """One model.

    kind  incremental: each refresh, or there was nothing to refresh; full: rebuilt, with the reason; not tried: the
          embedded engine cannot run it, or a model that it reads; failed: an error, or wrong rows
    """

    model: str
    kind: Kind
    reason: str = ""


@dataclass(frozen=True)
class Summary:
    """One project: how many models of each kind, and why the others are not incremental."""

    project: str
    version: str
    engine: str
    counts: dict[str, int]
    reasons: dict[str, int]  # of models that are full
    refreshes: int  # incremental refreshes whose rows were compared
    problems: tuple[str, ...]  # of models that failed or were not tried

    @property
    def models(self) -> int:
        return sum(self.counts.values())

    @property
    def failed(self) -> bool:
        return bool(self.counts.get("failed"))

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def summary(project: str, version: str, engine: str, outcomes: Sequence[Outcome], refreshes: int) -> Summary:
    by_kind = Counter(one.kind for one in outcomes)
    return Summary(
        project,
        version,
        engine,
        dict(sorted(by_kind.items())),
        dict(Counter(one.reason for one in outcomes if one.kind == "full").most_common()),
        refreshes,
        tuple(f"{one.model}: {one.reason}" for one in outcomes if one.kind in ("failed", "not tried")),
    )
