"""What is measured: a case is some models, and the change before their refresh."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from benchmarks.changes import Recipe
from benchmarks.errors import BenchmarkError
from benchmarks.statements import Statements

Change = Recipe | Statements


@dataclass(frozen=True)
class Case:
    """One line of the result table."""

    name: str
    models: tuple[str, ...]  # in layer order; empty: the whole project, timed as one `dbt run`
    change: Change


def chosen(cases: Sequence[Case], names: Iterable[str]) -> list[Case]:
    """The cases of a suite with these names, or all.

    Raises: BenchmarkError, which lists the cases, for an unknown name.
    """
    names = set(names)
    unknown = sorted(names - {case.name for case in cases})
    if unknown:
        known = ", ".join(case.name for case in cases)
        raise BenchmarkError(f"the suite has no case {unknown[0]}; its cases are: {known}")
    return [case for case in cases if not names or case.name in names]


def by_change(cases: Sequence[Case]) -> dict[Change, list[Case]]:
    """Cases grouped by change, in order of appearance; a group shares its change batches."""
    groups: dict[Change, list[Case]] = {}
    for case in cases:
        groups.setdefault(case.change, []).append(case)
    return groups
