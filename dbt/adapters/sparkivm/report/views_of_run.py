"""The incremental views of a run of dbt, from the files in `target/`, and from their states.

tested  tests/adapter/test_report.py
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

_FAILED = ("error", "fail", "skipped")


@dataclass(frozen=True)
class ViewRun:
    """One view in a run.

    seconds  of the whole node, as dbt measured it
    response  as in run_results.json
    status    as `sparkivm status` has it; {} if it is not known
    history   its refreshes, newest first, as `sparkivm history` has them
    plan      SVG; "" if it is not known
    problem   why status, history or plan are not known
    """

    unique_id: str
    name: str
    outcome: str  # a mode of a refresh, or error or skipped
    seconds: float
    message: str
    response: Mapping[str, Any]
    status: Mapping[str, Any] = field(default_factory=dict)
    history: Sequence[Mapping[str, Any]] = ()
    plan: str = ""
    problem: str = ""

    @property
    def rebuild_s(self) -> float | None:
        found = self.status.get("rebuild_seconds")
        return None if found is None else float(found)

    @property
    def compared_s(self) -> float | None:
        """Seconds of the last rebuild, if the view was refreshed without one; else None."""
        return self.rebuild_s if self.outcome in ("incremental", "no_op") else None

    @property
    def drawn(self) -> str:
        """The plan as SVG, or why there is no plan; "" without either."""
        return self.plan or self.problem

    @property
    def reason(self) -> tuple[str, str]:
        """Code and text of why the view was rebuilt in this run; ("", "") otherwise."""
        code = self.response.get("reason") or ""
        text = (self.response.get("reason_text") or "").removeprefix(f"{code}: ")
        return code, text


@dataclass(frozen=True)
class Run:
    """A run of dbt.

    others    number of its other nodes, and their seconds
    connected  whether the states were looked at
    """

    command: str
    at: datetime
    seconds: float
    views: tuple[ViewRun, ...]
    others: int
    others_s: float
    connected: bool = False


def read_run(results: Path) -> Run:
    """The run that wrote a `run_results.json`; its manifest is beside it.

    Raises: OSError, ValueError.
    """
    found = json.loads(results.read_text())
    views = _names_of_views(results.with_name("manifest.json"))
    runs = [_view(one, views) for one in found["results"] if one["unique_id"] in views]
    others = [one["execution_time"] for one in found["results"] if one["unique_id"] not in views]
    return Run(
        command=f"dbt {found.get('args', {}).get('which', 'run')}",
        at=datetime.fromisoformat(found["metadata"]["generated_at"].replace("Z", "+00:00")),
        seconds=found["elapsed_time"],
        views=tuple(runs),
        others=len(others),
        others_s=sum(others),
    )


def _names_of_views(manifest: Path) -> dict[str, str]:
    nodes = json.loads(manifest.read_text())["nodes"]
    return {
        key: f"{node['schema']}.{node['alias']}"
        for key, node in nodes.items()
        if node["resource_type"] == "model" and node["config"].get("materialized") == "incremental_view"
    }


def _view(result: Mapping[str, Any], names: Mapping[str, str]) -> ViewRun:
    response = result.get("adapter_response") or {}
    failed = result["status"] in _FAILED
    return ViewRun(
        unique_id=result["unique_id"],
        name=names[result["unique_id"]],
        outcome=("skipped" if result["status"] == "skipped" else "error")
        if failed
        else response.get("mode", ""),
        seconds=result["execution_time"],
        message=(result.get("message") or "") if failed else "",
        response=response,
    )
