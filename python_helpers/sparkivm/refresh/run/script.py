"""A refresh as data: its steps in their order. Explain prints them, a run executes them.

tested  tests/refresh/test_operations.py (the steps shown), test_apply_forms.py, test_killed_refreshes.py
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from sparkivm.changes.frontier import Frontier
from sparkivm.engine import Commit
from sparkivm.refresh.observation import Observation
from sparkivm.refresh.run.attempt import Attempt

KEEP_SNAPSHOTS = "tag the snapshots of the sources that were read"


@dataclass(kw_only=True)
class Progress:
    """What the steps of one refresh hand to each other.

    seen       replaced if a step compiles the model again
    frontier   of the new state; set with `committed`, once the state has changed
    """

    attempt: Attempt
    seen: Observation
    frontier: Frontier | None = None
    committed: Commit | None = None


P = TypeVar("P", bound=Progress)


@dataclass(frozen=True)
class Step(Generic[P]):
    """One thing that a refresh does.

    label  what it is, for explain
    run    may raise EngineError, ModelError, Conflict
    """

    label: str
    run: Callable[[P], object]


@dataclass(frozen=True)
class Script(Generic[P]):
    """The steps of one refresh.

    to_commit   up to the statement that changes the state. If one of them fails, the state is unchanged.
    afterwards  the rest
    """

    to_commit: tuple[Step[P], ...]
    afterwards: tuple[Step[P], ...]

    @property
    def labels(self) -> list[str]:
        return [step.label for step in (*self.to_commit, *self.afterwards)]

    def commit(self, progress: P) -> None:
        """Change the state. Raises: EngineError, ModelError, Conflict."""
        for step in self.to_commit:
            step.run(progress)

    def finish(self, progress: P) -> None:
        """Do what remains. Raises: EngineError, ModelError."""
        for step in self.afterwards:
            step.run(progress)
