"""Reading Spark's event log: only the jobs of the interval count, with all their tasks."""

import json
from datetime import datetime, timedelta, timezone

from benchmarks.event_log import Interval, Work, read_work

START = datetime(2030, 1, 1, tzinfo=timezone.utc)


def ms(seconds):
    return int((START + timedelta(seconds=seconds)).timestamp() * 1000)


def job(number, seconds, stages):
    return json.dumps(
        {
            "Event": "SparkListenerJobStart",
            "Job ID": number,
            "Submission Time": ms(seconds),
            "Stage IDs": stages,
        },
        separators=(",", ":"),
    )


def task(stage, rows=0, n_bytes=0, cpu_ns=0):
    metrics = {"Executor CPU Time": cpu_ns, "Input Metrics": {"Records Read": rows, "Bytes Read": n_bytes}}
    return json.dumps(
        {"Event": "SparkListenerTaskEnd", "Stage ID": stage, "Task Metrics": metrics}, separators=(",", ":")
    )


def statement(number, seconds, plan, root=None, description="dbt"):
    return json.dumps(
        {
            "Event": "org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart",
            "executionId": number,
            "rootExecutionId": number if root is None else root,
            "description": description,
            "sparkPlanInfo": plan,
            "time": ms(seconds),
        },
        separators=(",", ":"),
    )


def node(name, *children):
    return {"nodeName": name, "children": list(children)}


def interval(start, end):
    return Interval(START + timedelta(seconds=start), START + timedelta(seconds=end))


def test_adds_up_the_jobs_of_the_interval():
    log = [
        '{"Event":"SparkListenerLogStart","Spark Version":"4.1.4"}',
        job(0, 0.5, [0]),
        task(0, rows=1000, n_bytes=5000),
        job(1, 1.5, [1, 2]),
        task(1, rows=10, n_bytes=100, cpu_ns=2_000_000_000),
        task(1, rows=20, n_bytes=200),
        task(2),
        job(2, 2.5, [3]),
        task(3, rows=7, n_bytes=70),
    ]
    assert read_work(log, interval(1, 2)) == Work(jobs=1, tasks=3, rows_read=30, bytes_read=300, cpu_s=2.0)
    assert read_work(log, interval(1, 3)).rows_read == 37
    assert read_work(log, interval(5, 6)) == Work()


def test_counts_statements_and_the_nodes_of_all_plans():
    scan = node("WholeStageCodegen (1)", node("Filter", node("InputAdapter", node("Scan parquet t"))))
    log = [
        statement(1, 1, node("Execute InsertInto", scan)),
        statement(2, 1, scan, root=1),
        statement(3, 1, node("AdaptiveSparkPlan", scan), description="Delta: Compute snapshot"),
        statement(4, 1, node("CommandResult")),
        statement(5, 9, scan),
    ]
    assert read_work(log, interval(0, 2)) == Work(statements=1, plan_nodes=3 + 2 + 3)


def test_work_adds_up():
    assert Work(1, 2, cpu_s=0.5) + Work(1, 1, rows_read=3) == Work(2, 3, rows_read=3, cpu_s=0.5)


def test_a_killed_task_has_no_metrics():
    killed = '{"Event":"SparkListenerTaskEnd","Stage ID":0,"Task Metrics":null}'
    assert read_work([job(0, 1, [0]), killed], interval(0, 2)) == Work(jobs=1, tasks=1)


def test_dbt_times_without_zone_are_utc():
    naive = Interval(START.replace(tzinfo=None), START.replace(tzinfo=None) + timedelta(seconds=1))
    assert naive.holds(ms(0.5))
    assert not naive.holds(ms(1.5))
