"""Measures how many small mistakes in the compiler the fast tests find: `make mutants`.

Tries a sample of each module's mutants, the same in each run. Each mutant runs in its own process, with the
tests that execute its line, until one fails, for a minute at most: first those that found another mistake in
its module, then one case of each test. Survivors are listed in survivors.txt with the reason why they change
no row, and not tried again; an unlisted survivor is an error. The score is the share of mutants that were
found, without those whose reason is that they are equivalent: no test can find them.

What was killed before is not tried again while its module stays the same, and so do the file of the test that
killed it and the helpers and data beside it. So an interrupted run goes on (.build/mutants/killed.json).
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import json
import os
import re
import select
import signal
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import islice
from pathlib import Path

import pytest

from tests.mutants.live import NotApplied, apply
from tests.mutants.mutations import Mutant, made_of, mutants_of, sample_of
from tests.mutants.suite import TEXTS, Known, Suite, collected, function_of, in_fork, to_try
from tests.seeds import DEFAULT_SEED

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
PRODUCT = ROOT / "python_helpers" / "sparkivm"
SURVIVORS = HERE / "survivors.txt"
FOLDERS = (
    "algebra",
    "properties",
    "normalize",
    "plan",
    "spark",
    "spark_sql",
    "statements",
    "changes",
    "frontend",
    "refresh",
)
GOAL = 0.9
_EQUIVALENT = "equivalent"
_LINES_PER_MUTANT = 20
_FEWEST = 4  # per module
_WALL_LIMIT_S = 900.0  # for a mutant that hangs


@dataclass
class Trial:
    """A mutant under test, and its outcome so far."""

    mutant: Mutant
    tests: list[str]
    started: float = 0.0
    test: str = ""  # the running test, or the one that found the mistake
    outcome: str = ""  # killed, text (found by a comparison of texts), survived, not applied
    _unread: bytes = b""

    @property
    def name(self) -> str:
        return self.mutant.name

    def hear(self, text: bytes) -> None:
        """Read what its process sends: JSON lines with a kind and a test."""
        *lines, self._unread = (self._unread + text).split(b"\n")
        for line in lines:
            kind, test = json.loads(line)
            self.test = test or self.test
            if kind != "runs":
                self.outcome = kind


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("modules", nargs="*", default=FOLDERS, help="folders or modules under sparkivm/")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--per-module", type=int, default=0, help="mutants per module; 0: by its length")
    parser.add_argument("--name", default="", help="only mutants whose names contain this, without sampling")
    parser.add_argument("--seconds", type=float, default=60.0, help="CPU limit for the tests of a mutant")
    parser.add_argument("--tests", nargs="*", default=[], help="only these tests")
    parser.add_argument("--no-texts", action="store_true", help="without the tests that compare texts")
    parser.add_argument("--listed", action="store_true", help="try the listed survivors too")
    parser.add_argument("--json", type=Path, help="write all outcomes")
    options = parser.parse_args(argv)
    os.environ["SPARKIVM_SEED"] = DEFAULT_SEED  # the same random cases in each run
    os.chdir(ROOT)
    mutants = _chosen(options)
    print(f"{len(mutants)} mutants", flush=True)
    return collected(options.tests or ["tests"], lambda suite: _try_all(suite, mutants, options))


def _chosen(options: argparse.Namespace) -> list[Mutant]:
    result: list[Mutant] = []
    for file in sorted(PRODUCT.rglob("*.py")):
        module = str(file.relative_to(PRODUCT))
        if not any(module == one or module.startswith(f"{one}/") for one in options.modules):
            continue
        text = file.read_text()
        found = mutants_of(module, text)
        if options.name:
            result += [mutant for mutant in found if options.name in mutant.name]
        else:
            most = options.per_module or max(_FEWEST, len(text.splitlines()) // _LINES_PER_MUTANT)
            result += sample_of(found, module, most)
    return result


def _try_all(suite: Suite, mutants: Sequence[Mutant], options: argparse.Namespace) -> int:
    for mutant in mutants:
        import_module(
            f"sparkivm.{mutant.module.removesuffix('.py').removesuffix('/__init__').replace('/', '.')}"
        )
    known = _known(suite, options.processes)
    uses = _Uses(known)
    before = Before(ROOT / ".build" / "mutants" / "killed.json")
    reasons = known_survivors(SURVIVORS.read_text())
    killers = Killers()
    done: list[Trial] = []
    waiting: list[tuple[Mutant, set[str]]] = []
    for mutant in mutants:
        if mutant.name in reasons and not options.listed:
            done.append(Trial(mutant, [], outcome="survived"))
            continue
        killed = before.of(mutant)
        if killed is not None and not (options.no_texts and killed.outcome == "text"):
            done.append(killed)
            killers.add(killed)
            continue
        tests = uses.tests_of(mutant) & suite.items.keys()
        if options.no_texts:
            tests = {name for name in tests if not name.startswith(TEXTS)}
        waiting.append((mutant, tests))
    print(f"{len(done)} were killed before, or are listed survivors", flush=True)
    trials = (
        Trial(mutant, to_try(tests, known, killers.are_likely(mutant.module), options.seconds))
        for mutant, tests in waiting
    )
    for trial in _tried(suite, trials, known, options.processes):
        done.append(trial)
        before.add(trial)
        killers.add(trial)
        if trial.outcome != "killed":
            print(
                f"{trial.outcome:11} {trial.name}  [{len(trial.tests)} tests, {time.monotonic() - trial.started:.0f} s]",
                flush=True,
            )
    if options.json:
        outcomes = [
            {"name": t.name, "line": t.mutant.line, "outcome": t.outcome, "test": t.test} for t in done
        ]
        options.json.write_text(json.dumps(outcomes, indent=1))
    return _report(done, reasons)


def _known(suite: Suite, processes: int) -> Known:
    """Run each test file once, and again only if the file or something that it uses has changed."""
    shared = _digest(
        file for folder in ("python_helpers", "dbt", "macros", "tests") for file in _files(folder)
    )
    folder = ROOT / ".build" / "mutants" / shared
    folder.mkdir(parents=True, exist_ok=True)
    files = suite.by_file()
    caches = {
        file: folder / f"{Path(file).stem}-{_digest_of_tests(file, items)}.json"
        for file, items in files.items()
    }
    waiting = [file for file, cache in caches.items() if not cache.exists()]
    running: dict[int, tuple[str, int]] = {}  # by pipe
    started = time.perf_counter()
    while waiting or running:
        while waiting and len(running) < processes:
            file = waiting.pop(0)
            print(f"{time.perf_counter() - started:4.0f} s: lines that {file} runs", flush=True)
            items = files[file]
            pid, pipe = in_fork(lambda send, items=items: send(suite.known(items, str(PRODUCT)).text()))  # type: ignore[misc]
            running[pipe] = (file, pid)
        for pipe in select.select(list(running), [], [])[0]:
            file, pid = running.pop(pipe)
            with os.fdopen(pipe) as lines:
                text = lines.readline()
            os.waitpid(pid, 0)
            if not text:
                raise SystemExit(f"{file} fails without a mutant")
            caches[file].write_text(json.loads(text))
    known = Known()
    for cache in caches.values():
        known.update(Known.of_text(cache.read_text()))
    return known


class Killers:
    """The test functions that found mistakes in each module: they are likely to find more there."""

    def __init__(self) -> None:
        self._found: defaultdict[str, set[str]] = defaultdict(set)

    def add(self, trial: Trial) -> None:
        if trial.outcome == "killed":
            self._found[trial.mutant.module].add(function_of(trial.test))

    def are_likely(self, module: str) -> Callable[[str], bool]:
        """Whether a test is one of them, or is named after the module."""
        stem, found = Path(module).stem, self._found[module]
        return lambda name: stem in name or function_of(name) in found


class Before:
    """The mutants that were killed, with a digest of what this depends on; kept in a file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._killed: dict[str, list[str]] = json.loads(path.read_text()) if path.exists() else {}

    def of(self, mutant: Mutant) -> Trial | None:
        if mutant.name not in self._killed:
            return None
        outcome, test, digest = self._killed[mutant.name]
        trial = Trial(mutant, [], outcome=outcome, test=test)
        return trial if digest == self._digest(trial) else None

    def add(self, trial: Trial) -> None:
        if trial.outcome in ("killed", "text"):
            self._killed[trial.name] = [trial.outcome, trial.test, self._digest(trial)]
            self._path.write_text(json.dumps(self._killed, indent=1))

    def _digest(self, trial: Trial) -> str:
        """Of the module, and of the file of the test that killed it with the data and modules beside that file."""
        test = ROOT / trial.test.split("::")[0]
        beside = [test, *_files(test.parent)] if test.is_file() else []  # no file: killed at import
        return _digest([PRODUCT / trial.mutant.module, *beside])


def _digest_of_tests(file: str, items: Sequence[pytest.Item]) -> str:
    names = " ".join(item.nodeid for item in items)
    return hashlib.sha256((ROOT / file).read_bytes() + names.encode()).hexdigest()[:16]


def _files(folder: str | Path) -> Iterator[Path]:
    """What tests use: all files except the tests themselves, this tool and files written by a run."""
    for file in sorted((ROOT / folder).rglob("*")):
        is_test = file.name.startswith("test_") and file.suffix == ".py"
        if file.is_file() and not is_test and "__pycache__" not in file.parts and HERE not in file.parents:
            yield file


def _digest(files: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for file in files:
        digest.update(str(file.relative_to(ROOT)).encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def imported_names(text: str, package: str) -> set[str]:
    """The names that a module imports from a package."""
    return {
        alias.name
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == package
        for alias in node.names
    }


class _Uses:
    """Which tests a mutant needs."""

    def __init__(self, known: Known) -> None:
        self._known = known
        texts = {str(file): file.read_text() for file in PRODUCT.rglob("*.py")}
        self._lines = {file: text.splitlines() for file, text in texts.items()}
        self._trees = [ast.parse(text) for text in texts.values()]
        self._imports: dict[str, set[str]] = {}  # by test file

    def tests_of(self, mutant: Mutant) -> set[str]:
        file = str(PRODUCT / mutant.module)
        lines = self._known.tests.get(file, {})
        if mutant.function:
            # Not every line of an expression is traced; then we take the line before.
            before = [n for n in lines if mutant.first_line <= n <= mutant.line]
            return set(lines[max(before)]) if before else set()
        # A constant: lines in all modules that mention it or a value computed from it.
        made = self._made_of(mutant.defined)
        pattern = re.compile(rf"\b({'|'.join(map(re.escape, made))})\b")
        # A test that asks the constant itself may run no such line.
        tests = {test for test in self._known.seconds if self._imported(test.split("::")[0]) & set(made)}
        for other, text in self._lines.items():
            for number, ids in self._known.tests.get(other, {}).items():
                if pattern.search(text[number - 1]):
                    tests.update(ids)
        return tests

    def _imported(self, file: str) -> set[str]:
        """The names of the product that a test file imports."""
        if file not in self._imports:
            self._imports[file] = imported_names((ROOT / file).read_text(), PRODUCT.name)
        return self._imports[file]

    def _made_of(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """The names, and those that any module computes from them at import."""
        before: tuple[str, ...] = ()
        while names != before:
            before = names
            for tree in self._trees:
                names = made_of(names, tree)
        return names


def _tried(suite: Suite, trials: Iterator[Trial], known: Known, processes: int) -> Iterator[Trial]:
    """The trials, in the order in which they end; each is made when it starts."""
    running: dict[int, tuple[Trial, int]] = {}  # by pipe
    while True:
        for trial in islice(trials, processes - len(running)):
            trial.started = time.monotonic()
            pid, pipe = in_fork(lambda send, trial=trial: _try(suite, trial, known, send))  # type: ignore[misc]  # a default
            running[pipe] = (trial, pid)
        if not running:
            return
        ready, _, _ = select.select(list(running), [], [], 5)
        for pipe in list(running):
            trial, pid = running[pipe]
            if pipe in ready:
                text = os.read(pipe, 1 << 16)
                trial.hear(text)
                if text:
                    continue
            elif time.monotonic() - trial.started < _WALL_LIMIT_S:
                continue
            else:
                os.kill(pid, signal.SIGKILL)
            _, status = os.waitpid(pid, 0)
            os.close(pipe)
            del running[pipe]
            if os.WIFEXITED(status) and os.WEXITSTATUS(status):
                raise RuntimeError(f"the run of {trial.name} failed in {trial.test}")
            if not trial.outcome:  # it ran too long, or its process crashed
                trial.outcome = "text" if trial.test.startswith(TEXTS) else "killed"
            yield trial


def _try(suite: Suite, trial: Trial, known: Known, send: Callable[[object], None]) -> None:
    try:
        apply(trial.mutant, PRODUCT / trial.mutant.module)
    except NotApplied:
        send(["not applied", ""])
        return
    except Exception as error:
        send(["killed", f"at import: {type(error).__name__}"])
        return
    failed = suite.first_failure(trial.tests, known, lambda test: send(["runs", test]))
    if failed is None:
        send(["survived", ""])
    else:
        send(["text" if failed.startswith(TEXTS) else "killed", failed])


def _report(done: Sequence[Trial], reasons: Mapping[str, str]) -> int:
    """Print each folder's score, and compare the survivors with the known ones."""
    by_folder: dict[str, Counter[str]] = defaultdict(Counter)
    for trial in done:
        is_equivalent = trial.outcome == "survived" and reasons.get(trial.name, "").startswith(_EQUIVALENT)
        by_folder[trial.mutant.module.split("/")[0]][_EQUIVALENT if is_equivalent else trial.outcome] += 1
    total = sum(by_folder.values(), Counter())
    columns = ("killed", "text", "survived", _EQUIVALENT)
    print(f"\n{'':12} {'mutants':>10}" + "".join(f" {name:>10}" for name in columns) + f" {'score':>6}")
    for folder, counts in [*by_folder.items(), ("all", total)]:
        numbers = (counts.total() - counts["not applied"], *(counts[name] for name in columns))
        print(f"{folder:12}" + "".join(f" {number:10}" for number in numbers) + f" {_score(counts):6.1%}")
    if total["not applied"]:
        print(f"{total['not applied']} cannot be applied to a running process and do not count")
    new = [trial.name for trial in done if trial.outcome == "survived" and trial.name not in reasons]
    if new:
        print(f"\n{len(new)} survivors are not in {SURVIVORS.relative_to(ROOT)}:")
        print("\n".join(new))
    return int(bool(new) or _score(total) < GOAL)


def _score(counts: Counter[str]) -> float:
    """The share of mutants found, of those that can be; also those found only by comparing texts."""
    tried = counts.total() - counts["not applied"] - counts[_EQUIVALENT]
    return (counts["killed"] + counts["text"]) / tried if tried else 1.0


def known_survivors(text: str) -> dict[str, str]:
    """Name → reason. A line `# reason` applies to the names below it, up to the next such line."""
    found: dict[str, str] = {}
    reason = ""
    for line in text.splitlines():
        if line.startswith("#"):
            reason = line.removeprefix("#").strip()
        elif line.strip():
            found[line.strip()] = reason
    return found


if __name__ == "__main__":
    sys.exit(main())
