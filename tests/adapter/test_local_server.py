"""A server's record, its answers, and when it ends; without a JVM."""

import json
import os
import signal
import socket
import threading
import time
from contextlib import contextmanager
from unittest.mock import MagicMock

import pytest
import yaml
from click.testing import CliRunner
from dbt.adapters.exceptions.connection import FailedToConnectError
from dbt.adapters.sparkivm import session
from dbt.adapters.sparkivm.command import main
from dbt.adapters.sparkivm.local_server import join, lifetime
from dbt.adapters.sparkivm.local_server import keeper as keepers
from dbt.adapters.sparkivm.local_server.client import Refused, Server, ask_server, versions
from dbt.adapters.sparkivm.local_server.keeper import Keeper, Listener
from dbt.adapters.sparkivm.local_server.record import AlreadyRuns, Record, find_server, held_record

SETTINGS = {"spark.driver.memory": "1g", "spark.sql.shuffle.partitions": "2"}
RECORD = Record(pid=1, port=2, token="t")


class TestRecord:
    def test_none(self, tmp_path):
        assert find_server(tmp_path) is None
        assert find_server(tmp_path / "no" / "directory") is None

    def test_only_the_user_can_read_it_and_it_goes_with_its_server(self, tmp_path):
        with held_record(tmp_path) as write:
            write(RECORD)
            assert (tmp_path / "server.json").stat().st_mode & 0o777 == 0o600
            assert find_server(tmp_path) == RECORD
        assert list(tmp_path.iterdir()) == []

    def test_one_server_at_a_time(self, tmp_path):
        with held_record(tmp_path) as write:
            write(RECORD)
            with pytest.raises(AlreadyRuns), held_record(tmp_path):
                pass
            assert find_server(tmp_path) == RECORD

    @pytest.mark.parametrize("pid", [os.getpid(), 2**22 + 1], ids=["reused", "gone"])
    def test_a_stale_record_is_removed_whoever_has_its_process_id_now(self, tmp_path, pid):
        stale(tmp_path, Record(pid=pid, port=2, token="t"))
        assert find_server(tmp_path) is None
        assert list(tmp_path.iterdir()) == []

    def test_a_stale_record_does_not_prevent_a_start(self, tmp_path):
        stale(tmp_path, RECORD)
        with held_record(tmp_path) as write:
            assert (tmp_path / "server.json").read_text() == ""
            write(Record(pid=3, port=4, token="new"))
            assert find_server(tmp_path) == Record(pid=3, port=4, token="new")

    def test_one_that_starts_is_awaited(self, tmp_path):
        with held_record(tmp_path) as write:
            threading.Timer(0.3, write, [RECORD]).start()
            assert find_server(tmp_path) == RECORD

    def test_one_that_fails_to_start_is_not_awaited_any_longer(self, tmp_path):
        failing = held_record(tmp_path)
        failing.__enter__()
        threading.Timer(0.3, failing.__exit__, [None, None, None]).start()
        assert find_server(tmp_path) is None

    @pytest.mark.parametrize("mode", [0o644, 0o660])
    def test_a_record_that_others_can_read_is_refused(self, tmp_path, mode):
        stale(tmp_path, RECORD)
        (tmp_path / "server.json").chmod(mode)
        refused = pytest.raises(
            PermissionError, match=r"server\.json is not a regular file of this user alone"
        )
        with refused:
            find_server(tmp_path)
        with refused, held_record(tmp_path):
            pass
        assert (tmp_path / "server.json").exists()

    def test_another_users_record_is_refused(self, tmp_path, monkeypatch):
        stale(tmp_path, RECORD)
        monkeypatch.setattr(os, "geteuid", lambda: 12345)
        with pytest.raises(PermissionError):
            find_server(tmp_path)

    def test_a_link_is_refused(self, tmp_path):
        (tmp_path / "elsewhere").write_text(json.dumps({"pid": 1, "port": 2, "token": "t"}))
        (tmp_path / "server.json").symlink_to(tmp_path / "elsewhere")
        with pytest.raises(OSError, match=r"server\.json"):
            find_server(tmp_path)


def stale(directory, record):
    """What a server leaves that was killed."""
    path = directory / "server.json"
    path.write_text(json.dumps({"pid": record.pid, "port": record.port, "token": record.token}))
    path.chmod(0o600)


@pytest.fixture
def spark():
    """A Spark whose sessions can change what begins with spark.sql."""
    root = MagicMock()
    root.conf.isModifiable = lambda key: key.startswith("spark.sql.")
    root.sparkContext.statusTracker().getActiveJobsIds.return_value = []
    gateway = root.sparkContext._jvm.org.apache.spark.api.python.Py4JServer.return_value
    gateway.getListeningPort.return_value, gateway.secret.return_value = 1234, "secret"
    runtime = root.sparkContext._jvm.java.lang.Runtime.getRuntime()
    runtime.totalMemory.return_value, runtime.freeMemory.return_value = 300, 100
    runtime.maxMemory.return_value = 1000
    return root


@pytest.fixture
def keeper(spark, monkeypatch):
    monkeypatch.setattr(keepers, "_STATEMENT_ENDS_S", 0.2)
    monkeypatch.setattr(keepers, "_BETWEEN_CANCELS_S", 0.05)
    return Keeper(spark, SETTINGS, idle_s=60)


@contextmanager
def listening(keeper, directory):
    with held_record(directory) as write, Listener(keeper) as listener:
        write(Record(os.getpid(), listener.server_address[1], keeper.token))
        threading.Thread(target=listener.serve_forever, args=(0.05,), daemon=True).start()
        yield listener.server_address[1]
        listener.shutdown()


def until(condition):
    deadline = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


class TestClients:
    def test_a_client_gets_a_gateway_of_its_own_until_it_ends(self, keeper, spark, tmp_path):
        gateway = spark.sparkContext._jvm.org.apache.spark.api.python.Py4JServer.return_value
        spark.catalog.listTables.return_value = [
            MagicMock(namespace=["global_temp"]),
            MagicMock(namespace=[]),
        ]
        with listening(keeper, tmp_path):
            server = ask_server(tmp_path, want="spark", settings=SETTINGS)
            assert server.answer == {"port": 1234, "secret": "secret"}
            assert keeper.status()["clients"] == [os.getpid()]
            group = spark.sparkContext.setLocalProperty.call_args.args[1]
            gateway.shutdown.assert_not_called()
            server.close()
            until(lambda: spark.catalog.clearCache.called)
        assert keeper.status()["clients"] == []
        gateway.shutdown.assert_called_once()
        assert {call.args for call in spark.sparkContext.cancelJobGroup.call_args_list} == {(group,)}
        spark.catalog.dropGlobalTempView.assert_called_once()

    def test_jobs_of_a_client_that_was_killed_are_ended_until_none_runs(self, keeper, spark, tmp_path):
        tracker = spark.sparkContext.statusTracker()
        tracker.getActiveJobsIds.return_value, tracker.getJobIdsForGroup.return_value = [7, 8], [1, 7]
        with listening(keeper, tmp_path):
            ask_server(tmp_path, want="spark", settings=SETTINGS).close()
            time.sleep(0.6)  # longer than a statement without jobs is waited for
            before = spark.sparkContext.cancelJobGroup.call_count
            until(lambda: spark.sparkContext.cancelJobGroup.call_count > before)
            tracker.getActiveJobsIds.return_value = [8]
            until(lambda: spark.catalog.clearCache.called)

    def test_memory_is_kept_while_another_client_is_there(self, keeper, spark, tmp_path):
        with listening(keeper, tmp_path):
            one, two = (ask_server(tmp_path, want="spark", settings=SETTINGS) for _ in range(2))
            one.close()
            until(lambda: len(keeper.status()["clients"]) == 1)
            time.sleep(0.5)
            spark.catalog.clearCache.assert_not_called()
            two.close()
            until(lambda: spark.catalog.clearCache.called)

    def test_a_stranger_gets_no_answer(self, keeper, tmp_path):
        with listening(keeper, tmp_path) as port:
            with pytest.raises(ConnectionError):
                Server(Record(1, port, "guess"), {"want": "status"})
            for line in (b"hello\n", b"{}\n", b'{"token": 1}\n'):
                with socket.create_connection(("127.0.0.1", port), timeout=10) as stranger:
                    stranger.sendall(line)
                    assert stranger.recv(100) == b""
            assert ask_server(tmp_path, want="status").answer["used_bytes"] == 200

    def test_one_that_is_ending_takes_no_clients(self, keeper, tmp_path):
        with listening(keeper, tmp_path):
            keeper.ending.set()
            asked = []
            asking = threading.Thread(
                target=lambda: asked.append(ask_server(tmp_path, want="spark", settings=SETTINGS))
            )
            asking.start()
            time.sleep(0.5)
            assert asking.is_alive()
        asking.join(timeout=10)
        assert asked == [None], "then the process starts its own Spark"


class TestRefusals:
    def test_equal_settings(self, keeper):
        assert keeper.refusal(versions(), SETTINGS) == ""

    def test_a_session_can_have_another_value(self, keeper):
        assert keeper.refusal(versions(), {**SETTINGS, "spark.sql.shuffle.partitions": "9"}) == ""
        assert keeper.refusal(versions(), {**SETTINGS, "spark.sql.ansi.enabled": "true"}) == ""

    @pytest.mark.parametrize(
        ("settings", "named"),
        [
            ({**SETTINGS, "spark.driver.memory": "2g"}, "spark.driver.memory"),
            ({**SETTINGS, "spark.jars.packages": "a:b:1"}, "spark.jars.packages"),
            ({"spark.driver.memory": "1g"}, "spark.sql.shuffle.partitions"),
        ],
        ids=["changed", "added", "left_out"],
    )
    def test_other_settings_are_named_without_their_values(self, keeper, tmp_path, settings, named):
        with (
            listening(keeper, tmp_path),
            pytest.raises(Refused, match=f"other settings than this profile has: {named}\n") as error,
        ):
            ask_server(tmp_path, want="spark", settings=settings)
        assert "sparkivm server stop" in str(error.value)
        assert "1g" not in str(error.value)
        assert keeper.status()["clients"] == []

    def test_other_versions(self, keeper):
        assert "pyspark 3.0" in keeper.refusal("dbt-sparkivm 1, pyspark 3.0", SETTINGS)


class TestSessions:
    """Sessions of a Spark that was started with other settings."""

    @pytest.fixture
    def root(self, monkeypatch):
        """The first session of the server's Spark, in whose sessions SQL settings can be set."""
        root = MagicMock()
        root.conf.isModifiable = lambda key: key.startswith("spark.sql.")
        of_server = {"spark.sql.session.timeZone": "Europe/Berlin", "spark.sql.shuffle.partitions": "2"}
        monkeypatch.setattr(session, "_opened", None)
        monkeypatch.setattr(session, "join_server", lambda directory, settings: True)
        monkeypatch.setattr(session.SparkSession, "builder", MagicMock(getOrCreate=lambda: root))
        monkeypatch.setattr(session, "SparkContext", MagicMock(_active_spark_context=None))
        monkeypatch.setattr(session, "_inherited", lambda root, key: of_server.get(key))
        return root

    def test_a_default_replaces_what_the_server_was_started_with(self, root, tmp_path):
        opened = session.open_session({}, tmp_path).opened_with
        assert opened["spark.sql.session.timeZone"] == "UTC"
        assert "spark.driver.extraJavaOptions" not in opened

    def test_a_later_command_of_the_process_with_another_spark(self, root, tmp_path):
        session.open_session({"spark.sql.ansi.enabled": "true"}, tmp_path)
        session.SparkContext._active_spark_context = object()
        assert session.open_session({"spark.sql.ansi.enabled": "false"}, tmp_path).opened_with
        with pytest.raises(FailedToConnectError, match=r"this profile has: spark\.driver\.memory"):
            session.open_session({"spark.sql.ansi.enabled": "true", "spark.driver.memory": "2g"}, tmp_path)
        with pytest.raises(FailedToConnectError, match=r"this profile has: spark\.sql\.ansi\.enabled"):
            session.open_session({}, tmp_path)
        with pytest.raises(FailedToConnectError, match=r"and this profile's is in .*prod"):
            session.open_session({}, tmp_path / "prod")


class TestEnd:
    def test_in_use(self, keeper):
        client = keeper.join(42)
        assert "process 42" in keeper.stop(now=False)
        assert not keeper.ending.is_set()
        assert keeper.stop(now=True) == ""
        assert keeper.ending.is_set()
        keeper.leave(client)

    def test_idle_is_counted_from_the_last_client(self, keeper, monkeypatch):
        clock = [1000.0]
        monkeypatch.setattr(keepers.time, "monotonic", lambda: clock[0])
        keeper._last_used = clock[0]
        client = keeper.join(42)
        clock[0] += 1000
        keeper.end_if_idle()
        assert not keeper.ending.is_set(), "it is used"
        monkeypatch.setattr(keepers, "_STATEMENT_ENDS_S", -1)
        keeper.leave(client)
        clock[0] += 59
        keeper.end_if_idle()
        assert not keeper.ending.is_set()
        clock[0] += 2
        keeper.end_if_idle()
        assert keeper.ending.is_set()


class TestJoining:
    """What a dbt process does before it starts a Spark of its own."""

    @pytest.fixture
    def attached(self, monkeypatch):
        found = []
        monkeypatch.setattr(join, "_attach", lambda *where: found.append(where))
        monkeypatch.setattr(join, "_joined", None)
        return found

    def test_no_server(self, tmp_path, attached):
        assert not join.join_server(tmp_path, SETTINGS)
        assert attached == []

    def test_a_server(self, keeper, tmp_path, attached):
        with listening(keeper, tmp_path):
            assert join.join_server(tmp_path, SETTINGS)
            assert attached == [(1234, "secret")]
            assert keeper.status()["clients"] == [os.getpid()], "until this process ends"
            join._joined.close()

    def test_switched_off(self, keeper, tmp_path, attached, monkeypatch):
        monkeypatch.setenv("DBT_SPARKIVM_SERVER", "off")
        with listening(keeper, tmp_path):
            assert not join.join_server(tmp_path, SETTINGS)
        assert attached == []

    def test_other_settings_or_a_strange_record_are_errors(self, keeper, tmp_path, attached):
        with listening(keeper, tmp_path):
            with pytest.raises(FailedToConnectError, match=r"spark\.driver\.memory"):
                join.join_server(tmp_path, {**SETTINGS, "spark.driver.memory": "9g"})
            (tmp_path / "server.json").chmod(0o644)
            with pytest.raises(FailedToConnectError, match="of this user alone"):
                join.join_server(tmp_path, SETTINGS)
        assert attached == []

    def test_ctrl_c_stays_that_of_the_process(self):
        before = signal.getsignal(signal.SIGINT)
        with join._own_interrupts():
            signal.signal(signal.SIGINT, lambda *_: None)  # as pyspark does
        assert signal.getsignal(signal.SIGINT) is before


class TestCommand:
    @pytest.fixture
    def project(self, tmp_path, monkeypatch):
        (tmp_path / "dbt_project.yml").write_text("{name: p, version: '1.0', profile: p}")
        outputs = {
            "t": {"type": "sparkivm", "method": "session", "schema": "s"},
            "server": {"type": "sparkivm", "method": "thrift", "schema": "s", "host": "h"},
        }
        (tmp_path / "profiles.yml").write_text(yaml.safe_dump({"p": {"target": "t", "outputs": outputs}}))
        (tmp_path / "models").mkdir()
        monkeypatch.chdir(tmp_path / "models")  # dbt looks for the project in the folders above
        return tmp_path

    def said(self, *arguments):
        done = CliRunner().invoke(main, ["server", *arguments])
        return done.exit_code, done.output.strip()

    def test_no_server(self, project):
        options = ("--project-dir", str(project), "--profiles-dir", str(project))
        for directory in ((), options[:2]):
            said = self.said("status", *directory, *options[2:])
            assert said == (1, f"No server is running for {project / '.spark'}.")
        assert self.said("stop", *options) == (0, f"No server is running for {project / '.spark'}.")

    def test_only_for_sessions(self, project):
        code, said = self.said("start", "--profiles-dir", str(project), "--target", "server")
        assert code == 1
        assert "`method: session`, and this one has type: sparkivm, method: thrift" in said

    def test_an_unknown_target(self, project):
        code, said = self.said("status", "--profiles-dir", str(project), "--target", "none")
        assert code == 2
        assert "does not have a target named 'none'" in said

    def test_a_start_that_fails_says_why(self, project, monkeypatch):
        monkeypatch.setenv("JAVA_HOME", str(project / "no" / "java"))
        code, said = self.said("start", "--profiles-dir", str(project))
        assert code == 1
        assert "Spark needs Java, but" in said
        assert not (project / ".spark" / "server.json").exists()

    def test_status_and_stop(self, project, keeper, monkeypatch):
        monkeypatch.setattr(lifetime, "_PAUSE_S", 0.01)
        (project / ".spark").mkdir()
        options = ("--profiles-dir", str(project))
        with listening(keeper, project / ".spark"):
            code, said = self.said("status", *options)
            assert code == 0
            assert [line.split()[0] for line in said.splitlines()] == [
                *("server", "used", "memory", "ends", "directory")
            ]
            client = keeper.join(42)
            code, said = self.said("stop", *options)
            assert (code, said) == (
                1,
                "Error: dbt is using the server (process 42): wait, or run sparkivm server stop --now",
            )
            keeper.leave(client)
            stopping = threading.Thread(target=lambda: self.said("stop", *options))
            stopping.start()
            until(keeper.ending.is_set)
        stopping.join(timeout=10)
        assert not stopping.is_alive()
