"""An engine that records what a refresh does: its statements, its warnings, the time that Spark takes."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from sparkivm.engine import Engine
from sparkivm.formats.state_format import Write

P = ParamSpec("P")
T = TypeVar("T")


def _timed(method: Callable[Concatenate[Engine, P], T]) -> Callable[Concatenate[RecordingEngine, P], T]:
    """A method that forwards to the engine and counts the time as waiting."""

    @wraps(method)
    def forward(self: RecordingEngine, /, *args: P.args, **kwargs: P.kwargs) -> T:
        started = time.perf_counter()
        try:
            found: T = getattr(self._engine, method.__name__)(*args, **kwargs)
            return found
        finally:
            self.waited_s += time.perf_counter() - started

    return forward


class RecordingEngine(Engine):
    """Forwards every call.

    statements  that were executed, in order; not those of `execute_quietly`
    warnings    for the user
    waited_s    seconds in Spark and the catalog; the rest of a refresh is Python's share
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.statements: list[str] = []
        self.warnings: list[str] = []
        self.waited_s = 0.0

    def warn(self, text: str) -> None:
        self.warnings.append(text)

    def run(self, macro: str, **arguments: Any) -> None:
        """Render a statement and execute it."""
        self.execute(self.render(macro, **arguments))

    def write(self, write: Write) -> None:
        self.run(write.macro, **write.arguments)

    _execute = _timed(Engine.execute)

    def execute(self, sql: str) -> None:
        self.statements.append(sql)
        self._execute(sql)

    def execute_quietly(self, sql: str) -> None:
        """Execute a statement without recording it; its effects end with the refresh."""
        self._execute(sql)

    def render(self, macro: str, **arguments: Any) -> str:
        return self._engine.render(macro, **arguments)

    query = _timed(Engine.query)
    describe = _timed(Engine.describe)
    describe_all = _timed(Engine.describe_all)
    invalidate = _timed(Engine.invalidate)
    commits = _timed(Engine.commits)
    names_like = _timed(Engine.names_like)
    properties_at = _timed(Engine.properties_at)
    check_files = _timed(Engine.check_files)
    expect_commit = _timed(Engine.expect_commit)
    substituted = _timed(Engine.substituted)
    check_query = _timed(Engine.check_query)
    schema_of = _timed(Engine.schema_of)
    analyzed_plan = _timed(Engine.analyzed_plan)
    optimized_plan = _timed(Engine.optimized_plan)
    namespace = _timed(Engine.namespace)
    variables = _timed(Engine.variables)
    foreign_functions = _timed(Engine.foreign_functions)
    set = _timed(Engine.set)
    unset = _timed(Engine.unset)
    settings = _timed(Engine.settings)
