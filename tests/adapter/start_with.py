"""Opens a session as dbt does, with the settings on stdin (JSON), writes a Delta table, and says what arrived.

argument  the directory that a profile calls spark_directory
stdout    JSON: `settings` and `jars` as the context has them
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from dbt.adapters.sparkivm.session import open_session

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
