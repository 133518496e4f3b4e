"""What changed between two reports, and whether a policy accepts a report.

tested  tests/check/test_report.py
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal, get_args

from sparkivm.check.report import ModelReport, Report, Verdict

Kind = Literal["became full", "became unknown", "became incremental", "new", "removed", "other reason"]
KINDS: tuple[Kind, ...] = get_args(Kind)
Policy = Literal["full", "regression"]
POLICIES: tuple[Policy, ...] = get_args(Policy)


@dataclass(frozen=True)
class Change:
    """What happened to one model; `model` is as it is now, or, if it was removed, as it was.

    before  its earlier verdict; None if it is new
    """

    kind: Kind
    model: ModelReport
    before: Verdict | None

    @property
    def is_regression(self) -> bool:
        return self.before == "incremental" and self.kind != "removed"


def changes_between(earlier: Report, now: Report, left_out: Collection[str] = ()) -> tuple[Change, ...]:
    """The models that differ, those of a kind together, in the order of KINDS.

    left_out  models, by unique_id, that are still in the project but were not checked now
    """
    was = {model.model: model for model in earlier.models}
    known = {model.model for model in now.models}.union(left_out)
    found = [change for model in now.models if (change := _change(was.get(model.model), model))]
    gone = [model for model in earlier.models if model.model not in known]
    found += (Change("removed", model, model.verdict) for model in gone)
    return tuple(sorted(found, key=lambda change: KINDS.index(change.kind)))


def _change(was: ModelReport | None, model: ModelReport) -> Change | None:
    if was is None:
        return Change("new", model, None)
    if was.verdict != model.verdict:
        return Change(_BECAME[model.verdict], model, was.verdict)
    if model.cause is not None and not model.cause.is_like(was.cause):
        return Change("other reason", model, was.verdict)
    return None


_BECAME: dict[Verdict, Kind] = {
    "incremental": "became incremental",
    "full": "became full",
    "unknown": "became unknown",
}


def violations(policy: Policy, report: Report, changes: Collection[Change]) -> list[ModelReport]:
    """The models that a policy does not accept.

    full        models that are not known to be incremental
    regression  models that were incremental, and are not known to be incremental any more
    """
    if policy == "full":
        return [model for model in report.models if model.verdict != "incremental"]
    return [change.model for change in changes if change.is_regression]
