"""Connections of method `session`: one Spark in dbt's process, with one session per connection."""

from __future__ import annotations

import atexit
import logging
import threading
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any

from dbt.adapters.exceptions.connection import FailedToConnectError
from dbt.adapters.sparkivm.class_archive import from_archive
from dbt.adapters.sparkivm.environment import check_java
from dbt.adapters.sparkivm.known_jars import remember_jars, with_known_jars
from dbt.adapters.sparkivm.local_server.join import join_server
from dbt.adapters.sparkivm.private_directory import make_private, private_file
from dbt.adapters.sparkivm.quick_answers import answer_at_once
from dbt.adapters.sparkivm.session_defaults import (
    CATALOG,
    DEFAULTS_OF_DELTA,
    EXTENSION,
    SESSION_CATALOG,
    StateFormat,
    delta_package,
    is_icebergs,
    session_settings,
)
from dbt.adapters.sparkivm.spark_errors import SparkLost, is_lost, sentence
from dbt.adapters.sparkivm.submit_properties import submitted
from dbt_common.exceptions import DbtRuntimeError
from py4j.protocol import Py4JError
from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkException
from pyspark.java_gateway import launch_gateway
from pyspark.sql import DataFrame, Row, SparkSession

_starting = threading.Lock()
_opened: tuple[Path, Mapping[str, str]] | None = None  # directory and settings of this process's Spark
_thread = threading.local()
_BETWEEN_INTERRUPTS_S = 0.2
_SECOND_DRIVER = "XSDB6"  # Derby: the database is open in another process


class SessionConnection:
    """A separate Spark session: settings and temporary views are its own, tables are shared.

    dbt's connection manager runs statements by its cursors only.
    """

    def __init__(self, session: SparkSession, opened_with: Mapping[str, str]) -> None:
        answer_at_once(getattr(session, "_sc", None))  # a session of Spark Connect has no Java
        self.session = session
        self.opened_with = opened_with
        self.label = "dbt"
        self.canceled = False
        self._working = 0  # running statements; at most one, unless a thread took over a connection
        for key, value in opened_with.items():
            session.conf.set(key, value)

    def cursor(self) -> SessionCursor:
        return SessionCursor(self)

    def prepare(self) -> None:
        """Give this thread's jobs the session's settings, and a description that names the model."""
        if self.canceled:
            raise SparkLost("canceled")
        connection, label = getattr(_thread, "prepared_for", (None, ""))
        if connection is not self or label != self.label:
            jvm: Any = self.session._jvm
            jvm.org.apache.spark.sql.classic.SparkSession.setActiveSession(self.session._jsparkSession)
            self.session.sparkContext.setLocalProperty("spark.job.description", self.label)
            _thread.prepared_for = (self, self.label)

    def setting(self, key: str) -> str | None:
        """The value that a setting was given; None if it has none."""
        return self.session.conf.get(key, None)

    def reset(self, key: str) -> None:
        """Restore a setting to its value when the connection was opened."""
        if key in self.opened_with:
            self.session.conf.set(key, self.opened_with[key])
            return
        inherited = _inherited(self.session, key)
        if inherited is not None:
            self.session.conf.set(key, inherited)
        else:
            self.session.conf.unset(key)

    @contextmanager
    def at_work(self) -> Generator[None, None, None]:
        """A context in which a statement runs."""
        self._working += 1
        try:
            yield
        finally:
            self._working -= 1

    def cancel(self) -> None:
        """End the running jobs of this session; the thread's next statement is refused."""
        self.canceled = True
        threading.Thread(target=self._interrupt, daemon=True).start()

    def _interrupt(self) -> None:
        """Interrupt until the statement ends: while Spark plans it, there is no job to end."""
        while self._working:
            try:
                self.session.interruptAll()
            except Exception as error:
                if is_lost(error):
                    return  # Java has ended, and its jobs with it
                raise
            time.sleep(_BETWEEN_INTERRUPTS_S)

    def close(self) -> None:
        self.canceled = True

    def rollback(self, *args: Any, **kwargs: Any) -> None:
        """Spark has no transactions."""


class SessionCursor:
    """One statement. DDL and DML run when executed, a SELECT when its rows are fetched."""

    def __init__(self, connection: SessionConnection) -> None:
        self._connection = connection
        self._frame: DataFrame | None = None
        self._rows: list[Row] | None = None

    def execute(self, sql: str, bindings: Sequence[Any] | None = None) -> None:
        self._connection.prepare()
        text = sql.strip().removesuffix(";")
        self._rows = None
        with self._connection.at_work():
            self._frame = self._connection.session.sql(
                text % tuple(map(_literal, bindings)) if bindings else text
            )

    def fetchall(self) -> list[Row]:
        if self._rows is None:
            self._rows = self._collected(self._frame)
        return self._rows

    def fetchmany(self, size: int) -> list[Row]:
        if self._rows is None:
            self._rows = self._collected(None if self._frame is None else self._frame.limit(size))
        return self._rows[:size]

    def _collected(self, frame: DataFrame | None) -> list[Row]:
        with self._connection.at_work():
            return frame.collect() if frame is not None else []

    def fetchone(self) -> Row | None:
        return next(iter(self.fetchmany(1)), None)

    def close(self) -> None:
        self._frame = self._rows = None

    @property
    def description(self) -> list[tuple[Any, ...]]:
        fields = self._frame.schema.fields if self._frame is not None else []
        return [(f.name, f.dataType.simpleString(), None, None, None, None, f.nullable) for f in fields]


def open_session(
    given: Mapping[str, str], directory: Path, states: StateFormat = "delta"
) -> SessionConnection:
    """A new session of this process's Spark: of the server if one runs, else started if it does not run.

    states  the format for which a new Spark has a catalog of states
    Raises: FailedToConnectError, in one sentence, if Spark does not start, its catalog does not open, or the
    server, or the Spark that dbt started earlier in this process, has other settings.
    """
    global _opened
    settings = session_settings(given, directory, states)
    with _starting:
        if SparkContext._active_spark_context is None:
            join_or_start(settings, directory)
            _opened = directory, settings
        root = SparkSession.builder.getOrCreate()
        if _opened is None:  # somebody else started this Spark
            settings = dict(given)
        else:
            _check_same(root, *_opened, directory, settings)
        opened_with = {
            k: v for k, v in settings.items() if _inherited(root, k) != v and root.conf.isModifiable(k)
        }
    return SessionConnection(root.newSession(), opened_with)


def _check_same(
    root: SparkSession, ours: Path, settings: Mapping[str, str], theirs: Path, asked: Mapping[str, str]
) -> None:
    """Raises: FailedToConnectError if a later dbt command of this process needs another Spark."""
    problem = ""
    if ours.resolve() != theirs.resolve():
        problem = f"and this profile's is in {theirs}"
    elif other := other_settings(root, settings, asked):
        problem = f"with other settings than this profile has: {', '.join(other)}"
    if problem:
        raise FailedToConnectError(
            f"this process already runs Spark in {ours}, {problem}\n"
            "  do     run each target in a process of its own"
        )


def other_settings(root: SparkSession, ours: Mapping[str, str], theirs: Mapping[str, str]) -> list[str]:
    """The settings for which a Spark that was started with `ours` cannot be used by a profile with `theirs`.

    A session of it can have other values for settings that may change in a session.
    """
    return [
        key
        for key in sorted({*ours, *theirs})
        if ours.get(key) != theirs.get(key) and (key not in theirs or not root.conf.isModifiable(key))
    ]


def _inherited(session: SparkSession, key: str) -> str | None:
    """The value of a setting with which Spark was started, and which every new session has."""
    java: Any = session.sparkContext._jsc  # `sparkContext.getConf()` would copy all settings
    value: str | None = java.sc().conf().get(key, None)
    return value


def copied_session() -> SessionConnection:
    """A copy of the session of a Spark that somebody else started: settings, temporary views, functions.

    Raises: DbtRuntimeError if this Spark has no format that can store incremental views.
    """
    be_quiet()
    root = SparkSession.builder.getOrCreate()
    connection = SessionConnection(SparkSession(root.sparkContext, root._jsparkSession.cloneSession()), {})
    has_iceberg = is_icebergs(connection.setting(SESSION_CATALOG) or "")
    if not has_iceberg and EXTENSION not in (connection.setting("spark.sql.extensions") or ""):
        settings = {
            "spark.jars.packages": delta_package(),
            "spark.sql.extensions": EXTENSION,
            SESSION_CATALOG: CATALOG,
        }
        lines = "".join(f"\n    {key}: {value}" for key, value in settings.items())
        raise DbtRuntimeError(
            "incremental views need Delta or an Iceberg session catalog; this Spark has neither\n"
            f"  do     add to server_side_parameters in profiles.yml:{lines}"
        )
    for key, value in DEFAULTS_OF_DELTA.items():
        if connection.setting(key) is None:
            connection.session.conf.set(key, value)
    return connection


def join_or_start(settings: Mapping[str, str], directory: Path) -> SparkSession:
    """The first session of the server's Spark, if one runs, else of a new Spark.

    Raises: FailedToConnectError, in one sentence.
    """
    be_quiet()
    if not join_server(directory, settings):
        start_with_catalog(settings, directory)
    return SparkSession.builder.getOrCreate()


def start_with_catalog(settings: Mapping[str, str], directory: Path) -> SparkSession:
    """Start Spark and open its catalog. Returns: the first session.

    Raises: FailedToConnectError, in one sentence.
    """
    start(settings, directory)
    root = SparkSession.builder.getOrCreate()
    _open_catalog(root, directory)
    return root


def start(settings: Mapping[str, str], directory: Path) -> None:
    """Start the JVM; its output goes to a file, because dbt reports each error itself.

    Raises: FailedToConnectError, which names the file with Spark's output.
    """
    check_java()
    be_quiet()
    asked = with_known_jars(settings, directory)
    jars_are_known = asked != settings
    try:
        make_private(directory)
        archive = from_archive(asked) if jars_are_known else nullcontext(asked)
        with private_file(directory / "spark.log") as log, archive as started, submitted(started):
            gateway = launch_gateway(popen_kwargs={"stdout": log, "stderr": log})
        conf = SparkConf(loadDefaults=False).setAll(list(started.items()))
        context = SparkContext(gateway=gateway, conf=conf)
        if jars_are_known:
            atexit.register(close_catalog, context)
        else:
            remember_jars(settings, context.getConf().get("spark.jars", ""), directory)
    except OSError as error:
        raise FailedToConnectError(f"Spark did not start: {error}") from error
    except (PySparkException, Py4JError) as error:
        SparkContext._gateway = None
        raise FailedToConnectError(
            f"Spark did not start; see {directory / 'spark.log'}. {sentence(error)}"
        ) from error


def be_quiet() -> None:
    """Suppress output that dbt reports itself in one sentence.

    pyspark prints every analysis error as JSON, and dbt-spark asks for missing tables on purpose. py4j
    prints a stack if Java does not answer, partly through the root logger.
    """
    for name in ("SQLQueryContextLogger", "py4j"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    logging.getLogger().addFilter(_not_of_py4j)


def _not_of_py4j(record: logging.LogRecord) -> bool:
    return record.module != "java_gateway"


def _open_catalog(root: SparkSession, directory: Path) -> None:
    try:
        root.catalog.databaseExists("default")
    except (PySparkException, Py4JError) as error:
        text = (directory / "spark.log").read_text(errors="replace") + str(error)
        root.stop()
        if _SECOND_DRIVER in text:
            raise FailedToConnectError(
                f"the catalog in {directory} is open in another process, and Derby allows only one: "
                "wait until that dbt ends, then run `sparkivm server start`, whose Spark several can use."
            ) from error
        raise FailedToConnectError(
            f"Spark's catalog does not open; see {directory / 'spark.log'}. {error}"
        ) from error


def close_catalog(context: SparkContext) -> None:
    """Release Derby's lock for the next dbt; Java would keep it until its class data archive is written."""
    jvm: Any = context._jvm
    # Derby reports its shutdown as an error. Or Derby is not in use, or Java has already ended.
    with suppress(Py4JError, OSError):
        jvm.java.sql.DriverManager.getConnection("jdbc:derby:;shutdown=true")


def _literal(value: Any) -> str:
    """A value of a seed as SQL."""
    if value is None:
        return "NULL"
    if isinstance(value, (int, float)):
        return str(value)
    return "'" + str(value).replace("\\", "\\\\").replace("'", "\\'") + "'"
