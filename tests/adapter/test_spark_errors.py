"""Spark's error message without plan and stack trace."""

import pytest
from dbt.adapters.exceptions.connection import FailedToConnectError
from dbt.adapters.sparkivm.spark_errors import condition, is_lost, sentence
from dbt_common.exceptions import DbtDatabaseError, DbtRuntimeError
from py4j.protocol import Py4JError, Py4JNetworkError
from thrift.transport.TTransport import TTransportException


def test_plan_is_cut():
    wanted = "[TABLE_OR_VIEW_NOT_FOUND] No `a`. SQLSTATE: 42P01; line 1 pos 14"
    assert sentence(ValueError(wanted + ";\n'Project [*]\n+- 'UnresolvedRelation [a]")) == wanted


def test_stack_and_what_comes_before_the_error_class_are_cut():
    text = "Error running query: [DELTA_CONCURRENT_APPEND.WITHOUT_HINT] Try again.\n\tat org.x.Y.z(Y.scala:1)"
    message = sentence(DbtDatabaseError(text))
    assert message == "[DELTA_CONCURRENT_APPEND.WITHOUT_HINT] Try again."
    assert condition(message) == "DELTA_CONCURRENT_APPEND.WITHOUT_HINT"


def test_without_error_class():
    assert sentence(ValueError("disk full")) == "disk full"
    assert condition("disk full") == ""


def test_the_cause_of_a_task_that_failed():
    text = (
        "Job aborted: [TASK_WRITE_FAILED] Task failed while writing rows to s3. SQLSTATE: 58030\n\tat org.x.Y.z(Y.scala:1)\n"
        "Caused by: org.apache.spark.SparkRuntimeException: [USER_RAISED_EXCEPTION] boom SQLSTATE: P0001\n\tat org.x.Z"
    )
    assert sentence(ValueError(text)) == "[USER_RAISED_EXCEPTION] boom SQLSTATE: P0001"
    alone = "[TASK_WRITE_FAILED] Task failed while writing rows."
    assert sentence(ValueError(alone)) == alone


class GoneJava:
    """An exception in a Java that has stopped: py4j fails when it asks for the text."""

    def toString(self):
        raise Py4JNetworkError("Answer from Java side is empty")


class JavaException:
    def __init__(self, text, cause=None):
        self.text, self.cause = text, cause

    def toString(self):
        return self.text

    def getCause(self):
        return self.cause


def java_error(java):
    error = Py4JError("An error occurred while calling o61.sql.\n")
    error.java_exception = java
    return error


def raised_from(error, cause):
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    "error",
    [
        Py4JNetworkError("Answer from Java side is empty"),
        Py4JError("An error occurred while calling o61.sql"),
        java_error(GoneJava()),
        java_error(JavaException("java.lang.IllegalStateException: Cannot call methods on a stopped SparkContext.")),
        java_error(JavaException("org.apache.spark.SparkException: Job 3 cancelled because SparkContext was shut down")),
        ConnectionRefusedError(111, "Connection refused"),
        ConnectionResetError(104, "Connection reset by peer"),
        BrokenPipeError(32, "Broken pipe"),
        EOFError(),
        TTransportException(TTransportException.END_OF_FILE, "TSocket read 0 bytes"),
        raised_from(DbtRuntimeError("Connection lost while polling query status after 1 attempts."), BrokenPipeError()),
        raised_from(FailedToConnectError("failed to connect"), TTransportException()),
        DbtDatabaseError("Job 0 cancelled because SparkContext was shut down"),
    ],
)  # fmt: skip
def test_nobody_is_there_to_answer(error):
    assert is_lost(error)


@pytest.mark.parametrize(
    "error",
    [
        java_error(JavaException("org.apache.spark.sql.AnalysisException: [UNRESOLVED_COLUMN] `a`")),
        Py4JError("An error occurred while calling o61.sql. Trace:\npy4j.Py4JException: Method sql([]) does not exist"),
        ValueError("disk full"),
        DbtDatabaseError("[TABLE_OR_VIEW_NOT_FOUND] No `spark_context`."),
        raised_from(DbtRuntimeError("Query exceeded timeout of 3 seconds"), None),
    ],
)  # fmt: skip
def test_an_answer_is_no_loss(error):
    assert not is_lost(error)


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        (
            (
                "RESTException: Error while processing",
                "HttpHostConnectException: Connect to http://h:9 failed",
            ),
            "RESTException: Error while processing, caused by HttpHostConnectException: Connect to http://h:9 failed",
        ),
        (
            ("RuntimeException: IOException: no space", "IOException: no space"),
            "RuntimeException: IOException: no space",
        ),
        (
            ("SparkException: job failed", "[DIVIDE_BY_ZERO] Division by zero"),
            "[DIVIDE_BY_ZERO] Division by zero",
        ),
        (("IOException: no space",), "IOException: no space"),
    ],
)
def test_the_root_cause_follows_a_message_without_error_class(texts, said):
    java = None
    for text in reversed(texts):
        java = JavaException(text, java)
    assert sentence(java_error(java)) == said
