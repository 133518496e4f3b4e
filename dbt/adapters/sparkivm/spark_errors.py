"""Finds Spark's own sentence in an error of the driver, and recognizes that Spark is gone."""

from __future__ import annotations

import re

from dbt_common.exceptions import DbtDatabaseError

_CONDITION = re.compile(r"\[([A-Z][A-Z0-9_]*(?:\.[A-Z0-9_]+)*)\]")
# Spark wraps the error of a row in one of these, which say what it was doing.
_SAYING_WHERE = frozenset({"TASK_WRITE_FAILED", "FAILED_EXECUTE_UDF"})
# What may follow a sentence: a stack, a chain of causes, or the logical plan after "line 1 pos 14;".
_REST = re.compile(r"\n\s*(?:at [\w.$]+|JVM stacktrace|Driver stacktrace|Caused by)|;\n\s*(?='?[A-Z]\w*)")
_LONGEST_CAUSE_CHAIN = 20
# Errors of py4j, sockets and thrift, by name, because a user may have the packages of only one method.
_LOST = frozenset({"Py4JNetworkError", "ConnectionError", "EOFError", "TTransportException"})
_UNREACHABLE = "UNAVAILABLE"  # the gRPC status, for Spark Connect
_LOST_IN_WORDS = re.compile(
    # py4j's whole message if no answer came; for an exception in Java it names the exception.
    r"\AAn error occurred while calling \S+\Z"
    r"|\[INVALID_HANDLE\.SESSION_"
    r"|stopped SparkContext|SparkContext was shut ?down|SparkContext has been shut ?down"
)


class SparkLost(DbtDatabaseError):
    """Nothing else may be tried: Spark stopped, does not answer, or the user or a timeout ended its work."""


def sentence(error: BaseException) -> str:
    """Spark's message, from its error class on if there is one, without plan and stack.

    Without an error class, the root cause follows: a catalog's own message may not say what failed.
    """
    texts = _texts(error)
    found = [_cut(text[one.start() :]) for text in texts for one in _CONDITION.finditer(text)]
    telling = (text for text in found if condition(text) not in _SAYING_WHERE)
    message = next(telling, None) or next(iter(found), None)
    if message is not None:
        return message
    first, root = _cut(texts[0]), _cut(texts[-1])
    return (first if root in first else f"{first}, caused by {root}") or type(error).__name__


def is_lost(error: BaseException) -> bool:
    """Whether an error of the driver means that Spark is gone, and does not concern the statement."""
    seen: BaseException | None = error
    for _ in range(_LONGEST_CAUSE_CHAIN):
        if seen is None:
            return False
        if not _LOST.isdisjoint(kind.__name__ for kind in type(seen).__mro__):
            return True
        if getattr(getattr(seen, "_grpc_status_code", None), "name", None) == _UNREACHABLE:
            return True
        try:
            texts = _texts(seen)
        except Exception as unanswered:  # any error of py4j because the Java that threw it has stopped
            return is_lost(unanswered)
        if any(map(_LOST_IN_WORDS.search, texts)):
            return True
        seen = seen.__cause__
    return False


def condition(message: str) -> str:
    """The error class in a message; "" without one."""
    found = _CONDITION.search(message)
    return found[1] if found else ""


def _texts(error: BaseException) -> list[str]:
    """The message of the error, or of each Java exception behind it, asked from Java."""
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
