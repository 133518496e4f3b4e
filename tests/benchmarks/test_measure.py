"""Results: medians of the timed runs, and what they agree on."""

from benchmarks.cases import SUITES
from benchmarks.dbt_runner import NodeRun
from benchmarks.event_log import Work
from benchmarks.measure import Result, Timings, seen


def run(seconds, **response):
    return NodeRun("model", seconds, None, "models/model.sql", response)


def test_result_holds_medians_and_the_counted_work():
    refreshes = [
        run(s, mode="incremental", apply_form="append", statements=1, compile_s=0.02) for s in (9, 1, 2)
    ]
    timings = Timings(
        SUITES["first"].cases[0], refreshes, [run(s) for s in (8, 4, 5)], Work(jobs=3, rows_read=7)
    )
    result = Result.of(timings).as_json()
    assert (result["refresh_s"], result["full_s"], result["ratio"]) == (2, 5, 0.4)
    assert (result["mode"], result["apply_form"], result["statements"]) == ("incremental", "append", 1)
    assert (result["jobs"], result["rows_read"], result["python_s"], result["reason"]) == (3, 7, 0.02, "")


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
