"""Errors as the commands report them: one sentence, no traceback."""

from __future__ import annotations


class BenchmarkError(Exception):
    """An error that the user of the command can fix; its text is one clear sentence."""


def sentence(error: BaseException) -> str:
    """The first line of an error's text; in Spark's errors the plan follows."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__
