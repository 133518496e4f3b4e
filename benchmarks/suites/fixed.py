"""The minimum cost of a refresh: one changed row, or none, in small and in large tables."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from statistics import median

from benchmarks.bench import OUTPUT, Bench, Outcome
from benchmarks.cases import Case, chosen
from benchmarks.dbt_runner import DbtProject, Execution
from benchmarks.event_log import Work
from benchmarks.fixed_tables import INSERT, UPDATE, load
from benchmarks.generated_project import write_project
from benchmarks.paths import BENCH_PROJECT
from benchmarks.result import Result, Timings
from benchmarks.statements import NOTHING, StatementChanges

# The inserts come after the updates and continue with the same view.
CASES = (
    Case("aggregate", ("aggregate",), UPDATE),
    Case("join", ("joined",), UPDATE),
    Case("aggregate_over_join", ("aggregate_over_join",), UPDATE),
    Case("view_over_view", ("below", "above"), UPDATE),
    Case("chain_of_five", tuple(f"chain_{number}" for number in range(1, 6)), UPDATE),
    Case("insert_only_aggregate", ("aggregate",), INSERT),
    Case("insert_only_projection", ("projection",), INSERT),
    Case("no_op", ("aggregate",), NOTHING),
)
_MERGED = "commits_merged"  # the view of this case is `aggregate_over_join`
_MANY = "no_op_of_many"


def run(bench: Bench) -> Outcome:
    """Measure all cases at each number of rows."""
    results: list[Result] = []
    notes: list[str] = []
    for rows in bench.options.rows:
        load(bench.spark, f"fixed_{rows}", rows)
        insert_s = plain_insert_s(bench)
        results += [
            replace(one, labels={"rows": rows}, beside={"plain_insert_s": insert_s, **one.beside})
            for one in _measured(bench, f"_{rows}", many=not results)
        ]
        notes.append(f"a plain `insert into t select 1` beside the tables of {rows:,} rows: {insert_s:.2f} s")
    return Outcome(results, notes)


def _measured(bench: Bench, of: str, *, many: bool) -> list[Result]:
    """All cases, or the named ones, over tables of one size.

    many  whether to measure many unchanged views, which read no rows, so one size is enough
    """
    views, tables = bench.arms(of=of)
    sources = StatementChanges(bench.spark, f"fixed{of}")
    specials: dict[str, Callable[[], Result]] = {
        _MERGED: lambda: merged_commits(bench, sources, views),
    }
    if many:
        specials[_MANY] = lambda: no_op_of_many(bench, *bench.arms(write_many(bench.options.views), of))
    names = bench.options.case
    ordinary = [name for name in names if name not in (_MERGED, _MANY)]
    found: list[Result] = []
    if ordinary or not names:
        measurement = bench.measurement(sources, views, tables)
        found += measurement.measure(chosen(CASES, ordinary), bench.repeat(5))
    return [*found, *(measure() for name, measure in specials.items() if not names or name in names)]


def plain_insert_s(bench: Bench) -> float:
    """Seconds of the smallest possible commit: the median of five after a warm-up."""
    session = bench.spark.newSession()
    session.sql("create or replace table default.plain_insert (n int) using delta")
    seconds: list[float] = []
    for _ in range(6):
        started = time.perf_counter()
        session.sql("insert into default.plain_insert select 1")
        seconds.append(time.perf_counter() - started)
    return round(median(seconds[1:]), 3)


def merged_commits(bench: Bench, sources: StatementChanges, views: DbtProject) -> Result:
    """Many commits in one refresh, compared with a refresh after each; `full_s` is their sum."""
    model, commits = "aggregate_over_join", bench.options.commits
    views.run(model)
    singly: list[Execution] = []
    for number in range(commits):
        sources.apply(UPDATE)
        singly.append(views.run(model).of([model]))
        if (number + 1) % 10 == 0:
            bench.say(f"{number + 1} of {commits} commits refreshed one by one")
    for _ in range(commits):
        sources.apply(UPDATE)
    merged = views.run(model).of([model])
    bench.say(f"{commits} commits in one refresh: {merged.seconds:.2f} s")
    nodes = [node for one in singly for node in one.nodes]
    each = Execution(sum(one.seconds for one in singly), nodes, [])
    works: list[Work] = []
    for count in (1, commits):
        for _ in range(count):
            sources.apply(UPDATE)
        with bench.event_log.recording() as recording:
            counted = views.run(model).of([model])
        works.append(recording.work(*counted.intervals))
    one_work, merged_work = works
    timings = Timings(
        _MERGED,
        [merged],
        [each],
        refresh_work=merged_work,
        build_work=sum([one_work] * commits, Work()),
    )
    return replace(Result.of(timings), beside={"commits": commits, "against": "a refresh after each commit"})


def write_many(count: int) -> Path:
    """A project of many small views over the same two tables, like those of this suite."""
    shapes = ("aggregate", "projection", "joined", "aggregate_over_join", "below")
    texts = {shape: (BENCH_PROJECT / "models" / "fixed" / f"{shape}.sql").read_text() for shape in shapes}
    models = {f"many_{number:03}": texts[shapes[number % len(shapes)]] for number in range(count)}
    sources = (BENCH_PROJECT / "models" / "_sources.yml").read_text(encoding="utf-8")
    return write_project(OUTPUT / "many", models, sources)


def no_op_of_many(bench: Bench, views: DbtProject, tables: DbtProject) -> Result:
    """The whole `dbt run` of many unchanged views; their tables are built once."""
    timings = Timings(_MANY)
    for project, arm in ((tables, "tables"), (views, "views")):
        built = project.run()
        bench.say(f"first build of {len(built.nodes)} {arm}: {built.seconds:.1f} s")
        if project is tables:
            timings.builds.append(built)
    for _ in range(bench.repeat(5)):
        timings.refreshes.append(views.run())
        bench.say(f"no-op of {len(built.nodes)} views: {timings.refreshes[-1].seconds:.2f} s")
    with bench.event_log.recording() as recording:
        timings.refresh_work = recording.work(*views.run().intervals)
    return replace(Result.of(timings), beside={"views": len(built.nodes)})
