"""Spark's sentence without plan and stack."""

from dbt.adapters.sparkivm.spark_errors import condition, sentence
from dbt_common.exceptions import DbtDatabaseError


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
