"""Rule files: SQL, what a pass must and must not make of it, and the plan before and after.

    == a filter over the keys of a partition
    expect=Window >> Filter `k`
    expect-not=Filter >> Window
    select * from (select k, max(a) over (partition by k) as m from r) where k = 1
    -- before
    …
    -- after
    …

A path `A >> B` matches an operator whose line begins with A, directly over one whose line begins with B. Lines
before the first case describe the file. `--rewrite` rewrites only the plans.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

_CASE, _BEFORE, _AFTER = "== ", "-- before", "-- after"
_EXPECT, _EXPECT_NOT, _CHANGED = "expect=", "expect-not=", "changed="


@dataclass(frozen=True)
class RuleCase:
    """One query of a file.

    changed  tables whose changes the pass handles, for passes over deltas
    """

    name: str
    expect: tuple[str, ...] = ()
    expect_not: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    sql: str = ""
    plans: str = ""

    def text(self) -> str:
        head = [_CASE + self.name]
        head += [f"{_CHANGED}{', '.join(self.changed)}"] if self.changed else []
        head += [_EXPECT + path for path in self.expect] + [_EXPECT_NOT + path for path in self.expect_not]
        return "\n".join([*head, self.sql, self.plans])


@dataclass
class RuleFile:
    """A file of cases, in file order."""

    file: Path
    about: str = ""
    cases: list[RuleCase] = field(default_factory=list)

    @staticmethod
    def read(file: Path) -> RuleFile:
        about, *texts = f"\n{file.read_text()}".split(f"\n{_CASE}")
        return RuleFile(file, about.strip(), [_case(text) for text in texts])

    def rewrite(self, name: str, plans: str) -> None:
        """Replace the plans of one case."""
        self.cases = [replace(case, plans=plans) if case.name == name else case for case in self.cases]
        self.file.write_text("\n\n".join([self.about, *(case.text() for case in self.cases)]) + "\n")


def _case(text: str) -> RuleCase:
    name, *lines = text.strip().splitlines()
    body, _, plans = "\n".join(lines).partition(f"\n{_BEFORE}")

    def of(prefix: str) -> list[str]:
        return [line.removeprefix(prefix) for line in body.splitlines() if line.startswith(prefix)]

    sql = [line for line in body.splitlines() if not line.startswith((_EXPECT, _EXPECT_NOT, _CHANGED))]
    changed = tuple(name.strip() for line in of(_CHANGED) for name in line.split(","))
    return RuleCase(
        name, tuple(of(_EXPECT)), tuple(of(_EXPECT_NOT)), changed, "\n".join(sql), plans and _BEFORE + plans
    )


def plans(before: Sequence[str], after: Sequence[str]) -> str:
    return "\n".join([_BEFORE, *before, _AFTER, *(("the same",) if list(before) == list(after) else after)])


def is_in(path: str, lines: Sequence[str]) -> bool:
    """Whether a plan contains a path of operators."""
    wanted = path.split(" >> ")

    def starts_at(index: int, position: int) -> bool:
        if not lines[index].lstrip().startswith(wanted[position]):
            return False
        if position + 1 == len(wanted):
            return True
        depth = _depth(lines[index])
        for below in range(index + 1, len(lines)):
            if _depth(lines[below]) <= depth:
                break
            if _depth(lines[below]) == depth + 1 and starts_at(below, position + 1):
                return True
        return False

    return any(starts_at(index, 0) for index in range(len(lines)))


def _depth(line: str) -> int:
    return (len(line) - len(line.lstrip())) // 2
