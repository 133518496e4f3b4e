"""The process of a server: it starts Spark, shares it with dbt processes, and ends it.

Each client gets a py4j gateway of its own in the same Java, so what it leaves behind goes with its gateway. A
client's connection to this process lasts as long as the client: when it breaks, also because the client was
killed, its jobs are ended.

stdin   JSON: settings, directory, idle_s
stdout  one line of JSON: `{}` when the server is ready, or `error`
tested  tests/adapter/test_local_server.py, tests/dbt/test_local_server.py
"""

from __future__ import annotations

import hmac
import json
import os
import secrets
import signal
import socketserver
import sys
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dbt.adapters.sparkivm.local_server.client import LOOPBACK, versions
from dbt.adapters.sparkivm.local_server.record import AlreadyRuns, Record, held_record
from dbt.adapters.sparkivm.private_directory import make_private
from dbt.adapters.sparkivm.session import close_catalog, other_settings, start_with_catalog
from dbt.adapters.sparkivm.spark_errors import is_lost
from dbt_common.exceptions import DbtRuntimeError
from pyspark.sql import SparkSession

_GROUP = "spark.jobGroup.id"
_RESTART = "\n  do     sparkivm server stop, then sparkivm server start"
_LONGEST_REQUEST_BYTES = 1 << 20
_LONGEST_REQUEST_S = 10
_STATEMENT_ENDS_S = 10  # a statement that Spark is planning when its client ends may still start jobs
_BETWEEN_CANCELS_S = 0.5
_BETWEEN_CHECKS_S = 1.0


@dataclass(frozen=True)
class Client:
    """A dbt process that uses the server; its jobs are in `group`."""

    pid: int
    group: str
    gateway: Any


@dataclass
class Keeper:
    """The Spark, its clients, and when the server ends."""

    root: SparkSession
    settings: Mapping[str, str]
    idle_s: float
    token: str = field(default_factory=lambda: secrets.token_hex(32))
    ending: threading.Event = field(default_factory=threading.Event)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _clients: list[Client] = field(default_factory=list)
    _joined: int = 0
    _started: float = field(default_factory=time.monotonic)
    _last_used: float = field(default_factory=time.monotonic)

    def refusal(self, their_versions: str, theirs: Mapping[str, str]) -> str:
        """Why a client with these settings cannot use this Spark; "" if it can."""
        if their_versions != versions():
            return f"`sparkivm server` runs {versions()}, and this is {their_versions}{_RESTART}"
        if other := other_settings(self.root, self.settings, theirs):
            return (
                f"`sparkivm server` was started with other settings than this profile has: "
                f"{', '.join(other)}{_RESTART}"
            )
        return ""

    def join(self, pid: int) -> Client:
        """A new client. Called by its own thread, whose job group all threads of the gateway inherit."""
        with self._lock:
            if self.ending.is_set():
                raise ConnectionAbortedError("the server is ending")
            self._joined += 1
            group = f"sparkivm-client-{self._joined}"
            context = self.root.sparkContext
            context.setLocalProperty(_GROUP, group)
            jvm: Any = context._jvm
            gateway = jvm.org.apache.spark.api.python.Py4JServer(context._jsc.sc().conf())
            gateway.start()
            client = Client(pid, group, gateway)
            self._clients.append(client)
            return client

    def leave(self, client: Client) -> None:
        """End what the client has left running; forget what it kept when no client is left."""
        with self._lock:
            self._clients.remove(client)
            self._last_used = time.monotonic()
        client.gateway.shutdown()
        self._end_jobs(client.group)
        with self._lock:
            if not self._clients:
                self._forget()

    def _end_jobs(self, group: str) -> None:
        context = self.root.sparkContext
        tracker = context.statusTracker()
        until = time.monotonic() + _STATEMENT_ENDS_S
        while time.monotonic() < until or {*tracker.getActiveJobsIds()} & {*tracker.getJobIdsForGroup(group)}:
            context.cancelJobGroup(group)
            if self.ending.wait(_BETWEEN_CANCELS_S):
                return

    def _forget(self) -> None:
        """Drop the rows and global temporary views that a client, which was killed, kept in memory."""
        for view in self.root.catalog.listTables("global_temp"):
            if view.namespace:  # not a temporary view of a session
                self.root.catalog.dropGlobalTempView(view.name)
        self.root.catalog.clearCache()

    def status(self) -> dict[str, Any]:
        runtime: Any = self.root.sparkContext._jvm.java.lang.Runtime.getRuntime()  # type: ignore[union-attr]
        with self._lock:
            clients = [client.pid for client in self._clients]
        return {
            "running_s": time.monotonic() - self._started,
            "clients": clients,
            "idle_s": 0.0 if clients else time.monotonic() - self._last_used,
            "ends_after_idle_s": self.idle_s,
            "used_bytes": runtime.totalMemory() - runtime.freeMemory(),
            "most_bytes": runtime.maxMemory(),
        }

    def stop(self, *, now: bool) -> str:
        """End the server. Returns: why not, if clients use it and it need not end now."""
        with self._lock:
            if self._clients and not now:
                pids = ", ".join(str(client.pid) for client in self._clients)
                return f"dbt is using the server (process {pids}): wait, or run sparkivm server stop --now"
            self.ending.set()
        return ""

    def end_if_idle(self) -> None:
        with self._lock:
            if not self._clients and time.monotonic() - self._last_used > self.idle_s:
                self.ending.set()


class Listener(socketserver.ThreadingTCPServer):
    """One thread per connection."""

    daemon_threads = True

    def __init__(self, keeper: Keeper) -> None:
        super().__init__((LOOPBACK, 0), Conversation)
        self.keeper = keeper


class Conversation(socketserver.StreamRequestHandler):
    """One request and its answer; a client that asked for Spark stays until it ends."""

    server: Listener
    timeout = _LONGEST_REQUEST_S

    def handle(self) -> None:
        try:
            request = json.loads(self.rfile.readline(_LONGEST_REQUEST_BYTES))
            if hmac.compare_digest(str(request["token"]).encode(), self.server.keeper.token.encode()):
                self._answer(request)
        except (TimeoutError, ValueError, LookupError, TypeError):
            return  # not a client
        except Exception as error:
            if not is_lost(error):  # the client has gone, or Java has ended
                raise

    def _answer(self, request: Mapping[str, Any]) -> None:
        keeper = self.server.keeper
        match request["want"]:
            case "spark":
                if error := keeper.refusal(request["versions"], request["settings"]):
                    return self._say({"error": error})
                client = keeper.join(request["pid"])
                try:
                    self._say({"port": client.gateway.getListeningPort(), "secret": client.gateway.secret()})
                    self.connection.settimeout(None)
                    self.rfile.read()  # until the client ends
                finally:
                    keeper.leave(client)
            case "compare":
                error = keeper.refusal(request["versions"], request["settings"])
                self._say({"error": error} if error else {})
            case "status":
                self._say(keeper.status())
            case "stop":
                error = keeper.stop(now=request["now"])
                self._say({"error": error} if error else {})
        return None

    def _say(self, answer: Mapping[str, Any]) -> None:
        self.wfile.write(json.dumps(answer).encode() + b"\n")


def serve(directory: Path, settings: Mapping[str, str], idle_s: float) -> None:
    """Start Spark and share it until the server is stopped, idle for too long, or without its Java.

    Raises: AlreadyRuns; FailedToConnectError as start_with_catalog; OSError as held_record.
    """
    make_private(directory)
    with held_record(directory) as write:
        root = start_with_catalog(settings, directory)
        keeper = Keeper(root, settings, idle_s)
        for number in (signal.SIGTERM, signal.SIGINT):  # pyspark has set the second
            signal.signal(number, lambda *_: keeper.ending.set())
        with Listener(keeper) as listener:
            threading.Thread(target=listener.serve_forever, daemon=True).start()
            write(Record(os.getpid(), listener.server_address[1], keeper.token))
            _report({})
            _wait_until_end(keeper)
            listener.shutdown()
        try:
            context = root.sparkContext
            root.stop()
            close_catalog(context)
        except Exception as error:
            if not is_lost(error):
                raise


def _wait_until_end(keeper: Keeper) -> None:
    java: Any = keeper.root.sparkContext._gateway.proc  # type: ignore[union-attr]
    while not keeper.ending.wait(_BETWEEN_CHECKS_S):
        if java.poll() is not None:
            print(f"Java has ended with code {java.returncode}", file=sys.stderr)
            keeper.ending.set()
        keeper.end_if_idle()


def _report(answer: Mapping[str, Any]) -> None:
    """Write the only line of stdout, whose reader does not wait for more."""
    print(json.dumps(answer), flush=True)
    with open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), sys.stdout.fileno())


def main() -> int:
    request = json.load(sys.stdin)
    try:
        serve(Path(request["directory"]), request["settings"], request["idle_s"])
    except (AlreadyRuns, DbtRuntimeError, OSError) as error:
        _report({"error": str(error)})
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
