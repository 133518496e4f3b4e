"""Requests to a server: each is a line of JSON over the loopback interface, and so is the answer."""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from dbt.adapters.sparkivm.__version__ import version as our_version
from dbt.adapters.sparkivm.local_server.record import Record, find_server

LOOPBACK = "127.0.0.1"
_LONGEST_ANSWER_S = 60
_LONGEST_END_S = 60
_PAUSE_S = 0.2


class Refused(Exception):
    """The server's answer is an error, in words for the user."""


class Server:
    """A connection to a running server; `answer` is its reply to the request.

    A server that was asked to share its Spark does so until the connection is closed.
    """

    def __init__(self, record: Record, request: Mapping[str, Any]) -> None:
        """Raises: ConnectionError if the server has ended; Refused."""
        self.record = record
        self._socket = socket.create_connection((LOOPBACK, record.port), timeout=_LONGEST_ANSWER_S)
        line = json.dumps({"token": record.token, "versions": versions(), "pid": os.getpid(), **request})
        with self._socket.makefile("rwb") as stream:
            stream.write(line.encode() + b"\n")
            stream.flush()
            text = stream.readline()
        if not text:
            raise ConnectionResetError("the server has ended")
        self.answer: dict[str, Any] = json.loads(text)
        if "error" in self.answer:
            self.close()
            raise Refused(self.answer["error"])

    def close(self) -> None:
        self._socket.close()


def ask_server(directory: Path, **request: Any) -> Server | None:
    """Ask the server of a Spark directory; None if none runs.

    Raises: Refused; OSError if its record is not a file of this user alone, or if it does not answer.
    """
    deadline = time.monotonic() + _LONGEST_END_S
    while (record := find_server(directory)) is not None:
        try:
            return Server(record, request)
        except ConnectionError:  # it is about to end, and then its record is gone
            if time.monotonic() > deadline:
                raise
            time.sleep(_PAUSE_S)
    return None


def versions() -> str:
    """What has to be equal on both sides."""
    return f"dbt-sparkivm {our_version}, pyspark {version('pyspark')}"
