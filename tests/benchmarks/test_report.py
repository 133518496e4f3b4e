"""The report sums up the measurements."""

from benchmarks.dbt_runner import Execution, NodeRun
from benchmarks.event_log import Work
from benchmarks.report import report, strategy_text, summary
from benchmarks.result import WHOLE, Result, Timings
from benchmarks.suites.growth import growth


def result(case, refresh_s, mode="incremental", rows_read=10, **labels):
    refresh = NodeRun("q", refresh_s, None, "q.sql", {"mode": mode, "strategies": '{"Filter": "linear"}'})
    runs = [Execution(one.seconds, [one], []) for one in (refresh, NodeRun("q", 10, None, "q.sql"))]
    return Result.of(
        Timings(case, runs[:1], runs[1:], [], Work(rows_read=rows_read), Work(rows_read=10)), labels
    )


def test_summary_counts_what_pays_and_what_reads_too_much():
    results = [
        result("q01", 2),
        result("q02", 20, rows_read=12),
        result("q03", 5, mode="full", rows_read=20),
    ]
    assert summary(results).splitlines() == [
        "geometric mean of the 3 ratios: 0.585",
        "incremental: 2 of 3, below 0.6 of a rebuild: 1",
        "above 1.1 of a rebuild: q02 2.00",
        "incremental and above 1.1 of a rebuild's rows read: q02 1.20",
    ]


def test_a_no_op_may_have_a_ratio_of_zero():
    assert result("no_op", 0.002).ratio == 0.0
    assert summary([result("no_op", 0.002)]).startswith("geometric mean of the 1 ratios: 0.000\n")


def test_operators_of_one_strategy_are_counted():
    strategies = {"State": "adds up", "Filter": "linear", "Filter#2": "linear", "Aggregate": "affected keys"}
    assert strategy_text(strategies) == "State adds up; Filter ×2 linear; Aggregate affected keys"


def test_report_has_a_line_per_case_and_its_strategies():
    lines = report([result("q01", 2, rows=1000)]).splitlines()
    assert lines[0].split()[:2] == ["case", "rows"]
    assert lines[2].split()[:5] == ["q01", "1000", "10", "2", "0.200"]
    assert "q01, rows 1000  Filter linear" in lines


def test_each_start_has_its_summary_without_the_whole_run():
    results = [
        result(case, s, start=start) for start, s in (("fresh", 5), ("warm", 2)) for case in (WHOLE, "a")
    ]
    *_, fresh, warm = report(results).split("\n\n")
    assert fresh.startswith("start fresh\ngeometric mean of the 1 ratios: 0.500\nincremental: 1 of 1,")
    assert warm.startswith("start warm\ngeometric mean of the 1 ratios: 0.200\n")


def test_growth_compares_the_smallest_with_the_largest_scale():
    results = [result("a", 2, sf=1.0), result("b", 2, sf=1.0), result("a", 3, rows_read=30, sf=5.0)]
    assert growth([results[0], results[2]]) == [
        "a, sf 1 to 5: refresh 1.50 times the seconds and 3.00 times the rows read, rebuild 1.00 and 1.00 times"
    ]
