"""The fast tests, collected once in this process, and run in forks of it."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, zip_longest
from typing import Any

import pytest
from coverage import Coverage

FAST = "not spark and not dbt and not thrift and not slow and not nightly"
# Tests that compare texts: they show only that a mutant changes a text.
TEXTS = ("tests/golden/", "tests/docs/")
_CPU_LIMIT_S = 20.0  # for a test that takes no time, in case a mutant never ends
_TIMES_SLOWER = 8


@dataclass
class Known:
    """The results of a test run: CPU seconds of each test, and the tests that ran each line, by file."""

    seconds: dict[str, float] = field(default_factory=dict)
    tests: dict[str, dict[int, list[str]]] = field(default_factory=dict)

    def update(self, other: Known) -> None:
        self.seconds |= other.seconds
        for file, lines in other.tests.items():
            for number, tests in lines.items():
                self.tests.setdefault(file, {}).setdefault(number, []).extend(tests)

    def text(self) -> str:
        return json.dumps([self.seconds, self.tests])

    @staticmethod
    def of_text(text: str) -> Known:
        seconds, tests = json.loads(text)
        return Known(seconds, {f: {int(n): ids for n, ids in lines.items()} for f, lines in tests.items()})


@dataclass(eq=False)
class _Reports:
    """A pytest plugin that records whether a test failed."""

    failed: bool = False

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.failed = self.failed or report.failed


@dataclass
class Suite:
    """The items of a session that never runs as a whole."""

    session: pytest.Session
    items: dict[str, pytest.Item] = field(init=False)

    def __post_init__(self) -> None:
        self.items = {item.nodeid: item for item in self.session.items}
        self._reports = _Reports()
        self.session.config.pluginmanager.register(self._reports)

    def by_file(self) -> dict[str, list[pytest.Item]]:
        found: dict[str, list[pytest.Item]] = {}
        for name, item in self.items.items():
            found.setdefault(name.split("::")[0], []).append(item)
        return found

    def known(self, items: Sequence[pytest.Item], folder: str) -> Known:
        """Run tests, and record the lines in a folder that each one runs.

        Call it in a fork, because tests leave state behind.
        """
        found, lines = Known(), Coverage(data_file=None, config_file=False, include=[f"{folder}/*"])
        lines.set_option("run:core", "ctrace")  # the one that knows tests, in all versions of Python
        lines.set_option("run:disable_warnings", ["no-data-collected"])
        with lines.collect():
            for item, following in zip_longest(items, items[1:]):
                lines.switch_context(item.nodeid)
                failed, found.seconds[item.nodeid] = self._run(item, following)
                if failed:
                    raise RuntimeError(f"{item.nodeid} fails without a mutant")
        data = lines.get_data()
        for file in data.measured_files():
            found.tests[file] = data.contexts_by_lineno(file)
        return found

    def first_failure(self, names: Sequence[str], known: Known, started: Callable[[str], None]) -> str | None:
        """The first test that fails. A test that takes far longer than before ends the process."""
        items = [self.items[name] for name in names]
        for item, following in zip_longest(items, items[1:]):
            started(item.nodeid)
            limit = _CPU_LIMIT_S + _TIMES_SLOWER * known.seconds[item.nodeid]
            signal.setitimer(signal.ITIMER_PROF, limit)
            failed, _ = self._run(item, following)
            if failed:
                return item.nodeid
        return None

    def _run(self, item: pytest.Item, following: pytest.Item | None) -> tuple[bool, float]:
        self._reports.failed, started = False, time.process_time()
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        return self._reports.failed, time.process_time() - started


def function_of(name: str) -> str:
    """The test function of a case."""
    return name.partition("[")[0]


def in_order(names: Iterable[str], known: Known) -> list[str]:
    """The fastest case of each test function, fastest first; then the second case of each; and so on.

    Tests that compare texts come last.
    """
    cases: Counter[str] = Counter()
    places: dict[str, tuple[bool, int]] = {}
    fastest = sorted(names, key=lambda name: (known.seconds[name], name))
    for name in fastest:
        function = function_of(name)
        places[name] = (name.startswith(TEXTS), cases[function])
        cases[function] += 1
    return sorted(fastest, key=places.__getitem__)


def to_try(names: Iterable[str], known: Known, is_likely: Callable[[str], bool], seconds: float) -> list[str]:
    """The tests to try a mutant with: half of the time for those that are likely to find it."""
    ordered = in_order(names, known)
    first = _within(seconds / 2, [name for name in ordered if is_likely(name)], known)
    return first + _within(seconds / 2, [name for name in ordered if name not in first], known)


def _within(seconds: float, names: Sequence[str], known: Known) -> list[str]:
    """The first tests that fit into this time."""
    ends = accumulate(known.seconds[name] for name in names)
    return [name for name, end in zip(names, ends, strict=True) if end <= seconds]


def in_fork(work: Callable[[Callable[[str], None]], Any]) -> tuple[int, int]:
    """Start work in a fork. Returns: its process id, and the pipe that delivers its JSON lines."""
    read, write = os.pipe()
    sys.stdout.flush()
    pid = os.fork()
    if pid:
        os.close(write)
        return pid, read
    os.close(read)
    code = 1
    errors = os.fdopen(os.dup(2), "w")
    try:
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1)
        os.dup2(quiet, 2)
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        with os.fdopen(write, "w") as pipe:

            def send(line: Any) -> None:
                pipe.write(json.dumps(line) + "\n")
                pipe.flush()

            work(send)
        code = 0
    except BaseException:
        traceback.print_exc(file=errors)
        errors.flush()
    finally:
        os._exit(code)


def collected(arguments: Sequence[str], loop: Callable[[Suite], int]) -> int:
    """Collect the fast tests and pass them to `loop`. Returns the result of `loop`."""

    class InPlaceOfARun:
        result = 2

        @pytest.hookimpl(tryfirst=True)
        def pytest_runtestloop(self, session: pytest.Session) -> bool:
            session.config.pluginmanager.get_plugin("terminalreporter").reportchars = ""
            type(self).result = loop(Suite(session))
            return True

    plugin = InPlaceOfARun()
    started = time.perf_counter()
    options = ["-q", "--capture=no", "-p", "no:cacheprovider", "-p", "no:randomly", "-m", FAST, *arguments]
    status = pytest.main(options, plugins=[plugin])
    print(f"{time.perf_counter() - started:.0f} s")
    return plugin.result or int(status not in (0, 5))
