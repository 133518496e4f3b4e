"""dbt and its JVM are killed at random moments of a run; the next `dbt build` and its consistency tests succeed."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from itertools import islice
from pathlib import Path

ROOT = Path(__file__).parents[2]
_MOST_IN_A_ROW = 4
PROJECT = {
    "dbt_project.yml": """
name: chaos
version: "1.0"
profile: chaos
model-paths: [models]
macro-paths: [macros]
flags: {send_anonymous_usage_stats: false}
models: {chaos: {+materialized: incremental_view, +refresh_mode: incremental}}
on-run-start: "{{ change(var('change', 0)) }}"
""",
    "profiles.yml": """
chaos:
  target: dev
  outputs:
    dev:
      type: sparkivm
      method: session
      schema: chaos
      threads: 2
      server_side_parameters:
        spark.master: "local[2]"
        spark.driver.memory: 1g
        spark.driver.extraJavaOptions: "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
""",
    "macros/change.sql": """
{% macro change(number) %}
  {%- set n = number | int -%}
  {%- if execute and n > 0 -%}
    {%- do run_query([
      "insert into chaos.t values (" ~ n ~ ", " ~ n % 5 ~ ", " ~ n ~ ")",
      "update chaos.t set x = x + 1 where k = " ~ n % 4,
      "delete from chaos.t where id % 7 = " ~ n % 7,
    ][n % 3]) -%}
  {%- endif -%}
{% endmacro %}
{% macro setup() %}
  {%- do run_query("create schema if not exists chaos") -%}
  {%- do run_query("create table if not exists chaos.t (id int, k int, x int) using delta") -%}
  {%- do run_query("insert into chaos.t values (1, 1, 1), (2, 1, 2), (3, 2, 4), (4, null, 8)") -%}
{% endmacro %}
""",
    "models/sums.sql": "select k, count(*) as n, sum(x) as s from chaos.t group by k",
    "models/extrema.sql": "select k, max(x) as most, min(id) as first_id from chaos.t group by k",
    "models/lines.sql": "select id, k, x from chaos.t where x > 1",
    "models/joined.sql": "select l.id, l.x, s.n from {{ ref('lines') }} l left join {{ ref('sums') }} s on l.k = s.k",
    "models/schema.yml": """
models:
  - {name: sums, data_tests: [incremental_view_is_consistent]}
  - {name: extrema, data_tests: [incremental_view_is_consistent]}
  - {name: lines, data_tests: [incremental_view_is_consistent]}
  - {name: joined, data_tests: [incremental_view_is_consistent]}
""",
}


class Project:
    """A dbt project in its own directory."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        for name, text in PROJECT.items():
            path = directory / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def run(self, *arguments: str) -> str:
        """Returns: dbt's output. Raises: AssertionError if dbt failed."""
        process = self._started(*arguments)
        text, _ = process.communicate()
        assert process.returncode == 0, text
        return text

    def seconds_of_models(self, *arguments: str) -> float:
        """Run dbt. Returns: the time from the start of the first model to the end."""
        process = self._at_the_first_model(*arguments)
        started = time.monotonic()
        text, _ = process.communicate()
        assert process.returncode == 0, text
        return time.monotonic() - started

    def killed(self, after_s: float, *arguments: str) -> bool:
        """Kill dbt and its JVM this long after the first model starts. Returns whether dbt was still running."""
        process = self._at_the_first_model(*arguments)
        deadline = time.monotonic() + after_s
        while time.monotonic() < deadline and process.poll() is None:
            time.sleep(0.01)
        at_work = process.poll() is None
        if at_work:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return at_work

    def remove(self) -> None:
        shutil.rmtree(self._directory)

    def _at_the_first_model(self, *arguments: str) -> subprocess.Popen[str]:
        process = self._started(*arguments)
        assert process.stdout is not None
        for line in process.stdout:
            if " START sql " in line:
                break
        return process

    def _started(self, *arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "dbt.cli.main", "--no-use-colors", *arguments, "--profiles-dir", "."],
            cwd=self._directory,
            env={**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'python_helpers'}"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )


def kills(directory: Path, number: int, seed: int) -> tuple[int, list[str]]:
    """Kill up to four runs one after the other, then let one complete; repeat.

    Returns: the number of runs killed before their end, and one line per failure.
    """
    draw = random.Random(seed)
    project = Project(directory)
    project.run("run-operation", "setup")
    project.run("build")
    longest_s = project.seconds_of_models("run", "--vars", "{change: 3}")
    done, wrong = 0, []
    turns = iter(range(10, 10 + 3 * number))  # more than `number`, because some runs end before the kill
    while done < number and (in_a_row := list(islice(turns, draw.randint(1, _MOST_IN_A_ROW)))):
        killed = 0
        for turn in in_a_row:
            killed += project.killed(draw.uniform(0, longest_s), "run", "--vars", f"{{change: {turn}}}")
        done += killed
        try:
            if killed:
                project.run("build")
        except AssertionError as error:
            wrong.append(f"kill {done}: {str(error)[-2000:]}")
        print(f"{done} killed, {len(wrong)} not healed", flush=True)
    project.remove()
    return done, wrong
