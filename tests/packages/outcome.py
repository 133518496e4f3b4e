"""What became of each model of a project, and of a project as a whole."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

Kind = Literal["incremental", "full", "not tried", "failed"]
Engine = Literal["embedded", "Spark"]


@dataclass(frozen=True)
class Outcome:
    """One model.

    kind      incremental: in each refresh, or there was nothing to refresh; full: rebuilt; not tried: the embedded
              engine cannot run it, or it reads such a model; failed: an error, or wrong rows
    reason    the code of a rebuild's reason, the kind of problem, or what to know of an incremental model
    detail    the rest of the message
    compared  incremental refreshes after which the rows were compared
    """

    model: str
    kind: Kind
    reason: str = ""
    detail: str = ""
    compared: int = 0

    @property
    def text(self) -> str:
        return f"{self.model}: {self.kind}, {self.reason}" + f" ({self.detail})" * bool(self.detail)


@dataclass(frozen=True)
class Summary:
    """One project on one engine.

    own      whether it is one of our projects
    counts   models by kind
    reasons  models with a reason, by kind and reason
    refreshes  incremental refreshes after which the rows were compared
    """

    project: str
    version: str
    engine: Engine
    own: bool
    counts: Mapping[str, int]
    reasons: Mapping[str, int]
    refreshes: int

    @property
    def models(self) -> int:
        return sum(self.counts.values())


def summary(project: str, version: str, engine: Engine, own: bool, outcomes: Sequence[Outcome]) -> Summary:
    others = Counter(f"{one.kind}: {one.reason}" for one in outcomes if one.reason)
    return Summary(
        project,
        version,
        engine,
        own,
        dict(sorted(Counter(one.kind for one in outcomes).items())),
        dict(others.most_common()),
        sum(one.compared for one in outcomes),
    )
