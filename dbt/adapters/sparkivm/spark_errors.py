"""Spark's own sentence out of whatever the driver raised."""

from __future__ import annotations

import re

_CONDITION = re.compile(r"\[([A-Z][A-Z0-9_]*(?:\.[A-Z0-9_]+)*)\]")
# Spark wraps the error of a row in one that says what it was doing.
_SAYING_WHERE = frozenset({"TASK_WRITE_FAILED", "FAILED_EXECUTE_UDF"})
# What follows a sentence: a stack, a chain of causes, or the logical plan after "line 1 pos 14;".
_REST = re.compile(r"\n\s*(?:at [\w.$]+|JVM stacktrace|Driver stacktrace|Caused by)|;\n\s*(?='?[A-Z]\w*)")
_LONGEST_CAUSE_CHAIN = 20


def sentence(error: BaseException) -> str:
    """What Spark says, from its error class on if there is one, without plan and stack."""
    texts = _texts(error)
    found = [_cut(text[one.start() :]) for text in texts for one in _CONDITION.finditer(text)]
    telling = (text for text in found if condition(text) not in _SAYING_WHERE)
    return next(telling, None) or next(iter(found), None) or _cut(texts[0]) or type(error).__name__


def condition(message: str) -> str:
    """The error class in a message, "" where there is none."""
    found = _CONDITION.search(message)
    return found[1] if found else ""


def _texts(error: BaseException) -> list[str]:
    """The message of the error, or of each Java exception behind it, the outermost first."""
    java = getattr(error, "java_exception", None)
    if java is None:
        reply = (
            getattr(error.args[0], "status", None) if error.args else None
        )  # PyHive wraps the server's reply
        return [getattr(reply, "errorMessage", None) or getattr(error, "msg", None) or str(error)]
    texts: list[str] = []
    while java is not None and len(texts) < _LONGEST_CAUSE_CHAIN:
        texts.append(java.toString())
        java = java.getCause()
    return texts


def _cut(text: str) -> str:
    return _REST.split(text, maxsplit=1)[0].strip()
