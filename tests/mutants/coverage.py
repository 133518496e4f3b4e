"""Which test runs which lines of the product."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from types import CodeType, FrameType
from typing import Any

Lines = dict[str, set[int]]  # by file


class LineTrace:
    """Lines of files under one folder that were run. Code that runs again is not looked at once all of it ran."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._lines: dict[CodeType, set[int]] = {}
        self._all: dict[CodeType, int] = {}

    @contextmanager
    def tracing(self) -> Iterator[Lines]:
        """The lines that run meanwhile, complete at the end."""
        found: Lines = defaultdict(set)
        self._lines = {}
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
            if code not in self._all:
                self._all[code] = len({line for *_, line in code.co_lines() if line})
        if len(lines) >= self._all[code]:
            return None
        add = lines.add

        def at_line(frame: FrameType, event: str, argument: Any) -> Any:
            add(frame.f_lineno)
            return at_line

        return at_line
