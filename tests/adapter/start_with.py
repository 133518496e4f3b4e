"""Opens a session as dbt does, with the settings on stdin (JSON), and says what arrived.

argument  the directory that a profile calls spark_directory
stdout    JSON: `settings` as the context has them
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from dbt.adapters.sparkivm.session import open_session

if __name__ == "__main__":
    given = json.load(sys.stdin)
    context = open_session(given, Path(sys.argv[1])).session.sparkContext
    arrived = {key: context.getConf().get(key) for key in (*given, "spark.of.the.user", "spark.of.defaults")}
    print(json.dumps({"settings": arrived}))
    context.stop()
