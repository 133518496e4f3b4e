"""The 22 queries are models of the bench project; a laboratory's schema needs no `source()`."""

from __future__ import annotations

import re
from pathlib import Path

from benchmarks.paths import BENCH_PROJECT

QUERIES = sorted((BENCH_PROJECT / "models" / "tpch").glob("*.sql"))

_SOURCE = re.compile(r"\{\{ source\('tpch', '(\w+)'\) \}\}")


def query_text(path: Path) -> str:
    """The query with its tables named alone."""
    return _SOURCE.sub(r"\1", path.read_text(encoding="utf-8"))
