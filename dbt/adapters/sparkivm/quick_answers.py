"""Answers of Java that arrive at once.

py4j's JVM sends an answer in pieces of 8 KB and leaves Nagle's algorithm on: it holds a piece back until the
one before is acknowledged, and Linux acknowledges after 40 ms. A refresh reads several such answers: all
settings, the files of a table, wide schemas.

tested  tests/adapter/test_quick_answers.py
"""

from __future__ import annotations

import socket
from typing import Any

from pyspark import SparkContext

# Linux only. It holds until the next answer, so it is set before each.
_ACKNOWLEDGE_AT_ONCE = getattr(socket, "TCP_QUICKACK", None)


def answer_at_once(context: SparkContext | None) -> None:
    """Let this thread's connection to Java, and all that are opened later, acknowledge at once."""
    client: Any = getattr(getattr(context, "_gateway", None), "_gateway_client", None)
    # It has no such method if threads share connections (PYSPARK_PIN_THREAD=false).
    if _ACKNOWLEDGE_AT_ONCE is None or not hasattr(client, "get_thread_connection"):
        return
    opened = client.get_thread_connection()
    if opened is not None:
        _acknowledge(opened)
    if "_create_new_connection" in vars(client):
        return
    create = client._create_new_connection

    def created() -> Any:
        connection = create()
        _acknowledge(connection)
        return connection

    client._create_new_connection = created


def _acknowledge(connection: Any) -> None:
    if not isinstance(connection.stream, _Acknowledged):
        connection.stream = _Acknowledged(connection.socket, connection.stream)


class _Acknowledged:
    """py4j's stream of answers, one line each."""

    def __init__(self, of: socket.socket, stream: Any) -> None:
        self._socket, self._stream = of, stream

    def readline(self) -> Any:
        self._socket.setsockopt(socket.IPPROTO_TCP, _ACKNOWLEDGE_AT_ONCE or 0, 1)
        return self._stream.readline()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
