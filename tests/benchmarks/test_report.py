"""The report adds up what was measured."""

from benchmarks.cases import SUITES
from benchmarks.dbt_runner import NodeRun
from benchmarks.event_log import Work
from benchmarks.measure import Result, Timings
from benchmarks.report import report, strategy_text, summary


def result(number, refresh_s, mode="incremental", rows_read=10):
    refresh = NodeRun("q", refresh_s, None, "q.sql", {"mode": mode, "strategies": '{"Filter": "linear"}'})
    build = NodeRun("q", 10, None, "q.sql")
    case = SUITES["tpch"].cases[number - 1]
    return Result.of(Timings(case, [refresh], [build], Work(rows_read=rows_read), Work(rows_read=10)))


def test_summary_counts_what_pays_and_what_reads_too_much():
    results = [result(1, 2), result(2, 20, rows_read=12), result(3, 5, mode="full", rows_read=20)]
    assert summary(results).splitlines() == [
        "geometric mean of the 3 ratios: 0.585",
        "incremental: 2 of 3, below 0.6 of a rebuild: 1",
        "above 1.1 of a rebuild: q02 2.00",
        "incremental and above 1.1 of a rebuild's rows read: q02 1.20",
    ]


def test_operators_of_one_strategy_are_counted():
    strategies = {"State": "adds up", "Filter": "linear", "Filter#2": "linear", "Aggregate": "affected keys"}
    assert strategy_text(strategies) == "State adds up; Filter ×2 linear; Aggregate affected keys"


def test_report_has_a_line_per_case_and_its_strategies():
    lines = report([result(1, 2)]).splitlines()
    assert lines[2].split()[:4] == ["q01", "10", "2", "0.200"]
    assert "q01   Filter linear" in lines
