"""dbt in this process: whole runs and single models, with dbt's report about each node."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from dbt.cli.main import dbtRunner, dbtRunnerResult

from benchmarks.errors import BenchmarkError
from benchmarks.event_log import Interval

_STATEMENTS = {
    "create": "CREATE",
    "rebuild": "CREATE OR REPLACE",
    "append": "INSERT",
    "rewrite": "INSERT OVERWRITE",
    "recompute": "INSERT OVERWRITE",
    "replace": "REPLACE WHERE",
    "merge": "MERGE",
}


@dataclass(frozen=True)
class NodeRun:
    """One node of one dbt run; seconds are dbt's own `execution_time`."""

    name: str
    seconds: float
    interval: Interval | None
    path: str = ""  # the model's file in the project
    response: Mapping[str, Any] = field(default_factory=dict)  # dbt's adapter_response
    failures: int | None = None  # rows that a data test found

    @property
    def mode(self) -> str:
        """create, no_op, incremental or full; `table` for a model that is not an incremental view."""
        return str(self.response.get("mode") or "table")

    @property
    def apply_form(self) -> str:
        return str(self.response.get("apply_form") or "")

    @property
    def reason(self) -> str:
        """Why the refresh was not incremental, as code and sentence; "" if it was."""
        return str(self.response.get("reason_text") or self.reason_code)

    @property
    def reason_code(self) -> str:
        return str(self.response.get("reason") or "")

    @property
    def strategies(self) -> dict[str, str]:
        """Operator → strategy of an incremental view."""
        parsed: dict[str, str] = json.loads(self.response.get("strategies") or "{}")
        return parsed

    @property
    def applied_by(self) -> str:
        """The statement that changed the state, "" if none did."""
        return _STATEMENTS[self.apply_form] if self.apply_form else ""

    @property
    def rows_changed(self) -> str:
        """Rows that the refresh inserted, deleted and updated in its state: `+3 -1 ~2`."""
        counts = {"+": "rows_inserted", "-": "rows_deleted", "~": "rows_updated"}
        return " ".join(
            f"{sign}{self.response[key]:,}" for sign, key in counts.items() if self.response.get(key)
        )


@dataclass(frozen=True)
class Execution:
    """A timed whole: a dbt run, or some of its nodes."""

    seconds: float
    nodes: Sequence[NodeRun]
    intervals: Sequence[Interval]

    def of(self, models: Iterable[str]) -> Execution:
        """The nodes of these models, one after the other; the whole run if no model is named."""
        models = tuple(models)
        if not models:
            return self
        nodes = [node for node in self.nodes if node.name in models]
        intervals = [node.interval for node in nodes if node.interval is not None]
        return Execution(sum(node.seconds for node in nodes), nodes, intervals)


class DbtProject:
    """A dbt project with one target, run in this process on the Spark that already runs."""

    def __init__(
        self,
        project: Path,
        target: str,
        output: Path,
        *,
        quiet: bool = True,
        threads: int = 1,
        variables: Mapping[str, str] | None = None,
    ) -> None:
        self._project = project
        self._target = target
        self._output = output / target
        self._quiet = quiet
        self._threads = threads
        self._variables = dict(variables or {})
        self._manifest: Any = None

    def parse(self) -> None:
        """Parse the project once; later runs reuse the result. Without this, each run parses."""
        self._manifest = self._invoke("parse").result

    @property
    def _parsed_models(self) -> list[Any]:
        return [node for node in self._manifest.nodes.values() if node.resource_type == "model"]

    @property
    def models(self) -> list[str]:
        """The names of all models; the project must be parsed."""
        return [node.name for node in self._parsed_models]

    @property
    def schema(self) -> str:
        """The schema of the models; the project must be parsed."""
        return str(self._parsed_models[0].schema)

    def run(self, *models: str) -> Execution:
        """Run the selected models, or all; seconds are those of the whole command.

        Raises: BenchmarkError naming the first model that failed.
        """
        start, started = datetime.now(timezone.utc), time.perf_counter()
        nodes = self._nodes("run", models)
        seconds = time.perf_counter() - started
        return Execution(seconds, nodes, [Interval(start, datetime.now(timezone.utc))])

    def test(self) -> list[NodeRun]:
        """Run all data tests.

        Raises: BenchmarkError naming the first test that failed.
        """
        return self._nodes("test", ())

    def _nodes(self, command: str, models: tuple[str, ...]) -> list[NodeRun]:
        selection = ["--select", *models] if models else []
        outcome: Any = self._invoke(command, *selection, "--threads", str(self._threads)).result
        return [_node_run(one) for one in outcome.results]

    def _invoke(self, command: str, *options: str) -> dbtRunnerResult:
        places = {
            "--project-dir": self._project,
            "--profiles-dir": self._project,
            "--log-path": self._output / "logs",
            "--target-path": self._output,
            "--target": self._target,
            "--vars": json.dumps(self._variables),
        }
        arguments = ["--quiet"] if self._quiet or command == "parse" else []
        arguments += ["--use-colors" if sys.stdout.isatty() else "--no-use-colors", command, *options]
        arguments += [str(part) for pair in places.items() for part in pair]
        with _without_tracking():
            result = dbtRunner(manifest=self._manifest).invoke(arguments)
        if result.exception is not None:
            what = _first_lines(str(result.exception))
            raise BenchmarkError(f"dbt {command} failed: {what}") from result.exception
        if not result.success:
            raise BenchmarkError(_failure(command, result))
        return result


@contextmanager
def _without_tracking() -> Iterator[None]:
    before = os.environ.get("DBT_SEND_ANONYMOUS_USAGE_STATS")
    os.environ["DBT_SEND_ANONYMOUS_USAGE_STATS"] = "False"
    try:
        yield
    finally:
        if before is None:
            del os.environ["DBT_SEND_ANONYMOUS_USAGE_STATS"]
        else:
            os.environ["DBT_SEND_ANONYMOUS_USAGE_STATS"] = before


def _node_run(result: Any) -> NodeRun:
    return NodeRun(
        name=result.node.name,
        seconds=result.execution_time,
        interval=_execution(result.timing),
        path=result.node.original_file_path,
        response=dict(result.adapter_response or {}),
        failures=result.failures,
    )


def _execution(timing: Any) -> Interval | None:
    for one in timing:
        if one.name == "execute" and one.started_at and one.completed_at:
            return Interval(_moment(one.started_at), _moment(one.completed_at))
    return None


def _moment(value: Any) -> datetime:
    return value if isinstance(value, datetime) else datetime.fromisoformat(str(value).replace("Z", "+00:00"))


def _failure(command: str, result: dbtRunnerResult) -> str:
    for one in getattr(result.result, "results", []):
        if str(one.status) in {"error", "fail"}:
            return f"dbt {command} failed on {one.node.name}: {_first_lines(one.message or str(one.status))}"
    return f"dbt {command} failed"


def _first_lines(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return " ".join(lines[:3])
