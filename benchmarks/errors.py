"""Errors as the command lines report them: one sentence, no traceback."""

from __future__ import annotations


class BenchmarkError(Exception):
    """Something that the person at the terminal can act on; its text is one clear sentence."""


def sentence(error: BaseException) -> str:
    """The first line of an error's text; Spark goes on with the plan."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__
