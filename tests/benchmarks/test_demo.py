"""What the demo prints about its runs: first the whole project, then each view, then why one is not faster."""

from xml.etree import ElementTree

import pytest

from benchmarks.dbt_runner import Execution, NodeRun
from benchmarks.demo import Comparison, drawn, summary
from benchmarks.demo_arms import Arm, Conditions
from benchmarks.event_log import Work
from benchmarks.suites.demo import results


def run(seconds, of_models, **response):
    return Execution(seconds, [NodeRun(name, s, None, "", response) for name, s in of_models.items()], [])


@pytest.fixture
def compared():
    views = Arm(
        spark_start_s=5,
        fresh=run(20, {"small": 4, "large": 8}, mode="incremental", apply_form="merge"),
        warm=run(10, {"small": 2, "large": 3}, mode="incremental", apply_form="merge"),
        unchanged=run(1, {"small": 0.25, "large": 0.5}, mode="no_op"),
        work=Work(jobs=7),
        work_of_models={"small": Work(jobs=3), "large": Work(jobs=4)},
    )
    tables = Arm(
        spark_start_s=6, fresh=run(40, {"small": 3, "large": 30}), warm=run(30, {"small": 1, "large": 24})
    )
    return Comparison(Conditions(1, 2, "4g"), views, tables, ["large", "small"], run(12, {}))


def test_summary_begins_with_the_whole_run(compared):
    lines = summary(compared).splitlines()
    assert [line.split() for line in lines[2:4]] == [
        ["fresh", "process", "40.00", "20.00", "2.0x"],
        ["warm", "process", "30.00", "10.00", "3.0x"],
    ]
    assert lines[4].split() == ["fresh,", "with", "`sparkivm", "server`", "12.00"]
    large, small = lines[10:12]
    assert large.split()[:7] == ["large", "30.00", "8.00", "3.8x", "24.00", "3.00", "8.0x"]
    assert small.split()[-3:] == ["incremental", "MERGE", "0.25"]
    assert lines[13].startswith("small is not faster: a rebuild takes only 1.0 s. ")


def test_picture_shows_the_whole_run_and_each_view(compared):
    root = ElementTree.fromstring(drawn(compared))
    texts = {one.text for one in root.iter("{http://www.w3.org/2000/svg}text")}
    assert {
        "dbt run after a change, in a warm process: 10 s instead of 30 s",
        "in a fresh process",
        "large",
        "small",
    } <= texts


def test_rows_of_the_suite_have_their_start(compared):
    rows = [one.as_json() for start in ("fresh", "warm") for one in results(compared, start)]
    assert [(row["case"], row["start"], row["ratio"]) for row in rows] == [
        ("dbt run", "fresh", 0.5),
        ("large", "fresh", 0.267),
        ("small", "fresh", 1.333),
        ("dbt run", "warm", 0.333),
        ("large", "warm", 0.125),
        ("small", "warm", 2.0),
    ]
    assert [row["jobs"] for row in rows[:3]] == [7, 4, 3]
