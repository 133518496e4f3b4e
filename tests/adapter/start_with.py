"""Opens a session as dbt does, with settings from stdin (JSON), writes a Delta table, and prints what arrived.

argument  the directory that a profile calls spark_directory
stdout    JSON: `settings` and `jars` of the Spark context
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dbt.adapters.sparkivm.session import open_session

SMALL = {
    "spark.master": "local[1]",
    "spark.driver.memory": "600m",
    "spark.sql.catalogImplementation": "in-memory",
}


def what_arrives(directory: Path, given: Mapping[str, str] = SMALL) -> dict[str, Any]:
    """The output of such a process, after it has ended."""
    command = [sys.executable, "-m", "tests.adapter.start_with", directory]
    answer = subprocess.run(command, input=json.dumps(given), capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(answer.stdout.splitlines()[-1])
    return found


if __name__ == "__main__":
    given = json.load(sys.stdin)
    session = open_session(given, Path(sys.argv[1])).session
    context = session.sparkContext
    arrived = {key: context.getConf().get(key) for key in (*given, "spark.of.the.user", "spark.of.defaults")}
    jars = {key: context.getConf().get(key) for key in ("spark.jars.packages", "spark.jars")}
    session.sql("create table at_work using delta as select 1 as one")
    session.sql("drop table at_work")
    print(json.dumps({"settings": arrived, "jars": jars}))
    context.stop()
