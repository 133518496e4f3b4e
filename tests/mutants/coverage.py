"""Which test runs which lines of the product."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from types import CodeType, FrameType
from typing import Any

Lines = dict[str, set[int]]  # line numbers by file


_CALLS_WITHOUT_A_NEW_LINE = 60  # of a function in one test, before we stop tracing the function


class LineTrace:
    """Records the executed lines of files in one folder. Tracing a line takes longer than running it."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._lines: dict[CodeType, set[int]] = {}
        self._calls: dict[CodeType, int] = {}  # calls since the last new line
        self._all: dict[CodeType, int] = {}

    @contextmanager
    def tracing(self) -> Iterator[Lines]:
        """Yields the lines that run in this context; complete at its end."""
        found: Lines = defaultdict(set)
        self._lines, self._calls = {}, {}
        sys.settrace(self._called)
        try:
            yield found
        finally:
            sys.settrace(None)
            for code, lines in self._lines.items():
                found[code.co_filename] |= lines

    def _called(self, frame: FrameType, event: str, argument: Any) -> Any:
        code = frame.f_code
        if not code.co_filename.startswith(self._folder):
            return None
        lines = self._lines.get(code)
        if lines is None:
            lines = self._lines[code] = {frame.f_lineno}
            self._calls[code] = 0
            if code not in self._all:
                self._all[code] = len({line for *_, line in code.co_lines() if line})
        self._calls[code] += 1
        if len(lines) >= self._all[code] or self._calls[code] > _CALLS_WITHOUT_A_NEW_LINE:
            return None
        calls = self._calls

        def at_line(frame: FrameType, event: str, argument: Any) -> Any:
            if frame.f_lineno not in lines:
                lines.add(frame.f_lineno)
                calls[code] = 0
            return at_line

        return at_line
