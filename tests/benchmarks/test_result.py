"""Results: medians of the timed runs, and values on which all runs agree."""

from benchmarks.dbt_runner import Execution, NodeRun
from benchmarks.event_log import Work
from benchmarks.result import Result, Timings, seen


def run(seconds, name="model", **response):
    return NodeRun(name, seconds, None, f"models/{name}.sql", response)


def alone(seconds, **response):
    return Execution(seconds, [run(seconds, **response)], [])


def test_result_holds_medians_and_the_counted_work():
    refreshes = [alone(s, mode="incremental", apply_form="append", compile_s=0.02) for s in (9, 1, 2)]
    timings = Timings(
        "case", refreshes, [alone(s) for s in (8, 4, 5)], [0.5], Work(jobs=3, rows_read=7), Work(jobs=2)
    )
    result = Result.of(timings, {"rows": 1000}).as_json()
    assert list(result)[:5] == ["case", "rows", "full_s", "refresh_s", "ratio"]
    assert (result["refresh_s"], result["full_s"], result["ratio"]) == (2, 5, 0.4)
    assert (result["mode"], result["apply_form"], result["change_s"]) == ("incremental", "append", 0.5)
    assert (result["jobs"], result["full_jobs"], result["rows_read"]) == (3, 2, 7)
    assert (result["python_s"], result["reason"]) == (0.02, "")


def test_a_run_of_several_models_agrees_or_counts():
    run_of_two = Execution(
        7,
        [run(1, "one", mode="no_op"), run(2, "two", mode="full", reason="CODE", reason_text="CODE: at 1:2")],
        [],
    )
    result = Result.of(Timings("all", [run_of_two], [alone(10)]))
    assert (result.refresh_s, result.mode) == (7, "no_op ×1, full ×1")
    assert result.reason == "- ×1, CODE ×1"
    assert run_of_two.of(["two"]).seconds == 2
    assert run_of_two.of([]) is run_of_two


def test_runs_that_differ_are_counted():
    assert seen(["append", "append", "merge"]) == "append ×2, merge ×1"
    assert seen(["", ""]) == ""
    assert seen([]) == ""


def test_reason_has_code_and_sentence():
    assert run(1, reason="CODE", reason_text="CODE: sentence").reason == "CODE: sentence"
    assert run(1, reason="CODE").reason == "CODE"
    assert run(1, reason=None).reason == ""


def test_rows_changed_leaves_out_zeros():
    assert run(1, rows_inserted=3, rows_deleted=0, rows_updated=1200).rows_changed == "+3 ~1,200"
