"""The one error that the command lines report without a traceback."""

from __future__ import annotations


class BenchmarkError(Exception):
    """Something that the person at the terminal can act on; its text is one clear sentence."""
