"""Long answers of Java do not wait for an acknowledgement."""

from __future__ import annotations

import io
import socket
from typing import Any

import pytest
from dbt.adapters.sparkivm import quick_answers
from dbt.adapters.sparkivm.quick_answers import answer_at_once

pytestmark = pytest.mark.skipif(not hasattr(socket, "TCP_QUICKACK"), reason="only on Linux")


class Socket:
    def __init__(self) -> None:
        self.options: list[tuple[int, ...]] = []

    def setsockopt(self, *option: int) -> None:
        self.options.append(option)


class Connection:
    def __init__(self) -> None:
        self.socket, self.stream = Socket(), io.BytesIO(b"one\ntwo\n")


class Client:
    def __init__(self, opened: Connection | None) -> None:
        self.opened = opened

    def get_thread_connection(self) -> Connection | None:
        return self.opened

    def _create_new_connection(self) -> Connection:
        return Connection()


class Gateway:
    def __init__(self, client: Any) -> None:
        self._gateway_client = client


class Context:
    def __init__(self, client: Any) -> None:
        self._gateway = Gateway(client)


AT_ONCE = (socket.IPPROTO_TCP, getattr(socket, "TCP_QUICKACK", 0), 1)


def test_each_answer_is_acknowledged_at_once():
    client = Client(opened=Connection())
    for _ in range(2):  # each session of a process does it
        answer_at_once(Context(client))
    for connection in (client.opened, client._create_new_connection()):
        assert [connection.stream.readline() for _ in range(2)] == [b"one\n", b"two\n"]
        assert connection.socket.options == [AT_ONCE, AT_ONCE]
        connection.stream.close()


def test_a_thread_without_a_connection():
    client = Client(opened=None)
    answer_at_once(Context(client))
    connection = client._create_new_connection()
    connection.stream.readline()
    assert connection.socket.options == [AT_ONCE]


def test_where_it_is_not_possible(monkeypatch):
    shared = object()  # a client whose connections belong to no thread
    answer_at_once(Context(shared))
    answer_at_once(None)
    monkeypatch.setattr(quick_answers, "_ACKNOWLEDGE_AT_ONCE", None)
    client = Client(opened=Connection())
    answer_at_once(Context(client))
    assert "_create_new_connection" not in vars(client)


@pytest.mark.spark
def test_the_connection_of_a_session_is_quick(root_session):
    from dbt.adapters.sparkivm.session import SessionConnection

    SessionConnection(root_session.newSession(), {})
    client = root_session.sparkContext._gateway._gateway_client
    assert isinstance(client.get_thread_connection().stream, quick_answers._Acknowledged)
    text = "x" * 100_000
    assert root_session._jvm.java.lang.String(text) == text
