"""The bench project's models for the 22 queries; in a laboratory's schema they need no `source()`."""

from __future__ import annotations

import re
from pathlib import Path

from benchmarks.paths import BENCH_PROJECT

QUERIES = sorted((BENCH_PROJECT / "models" / "tpch").glob("*.sql"))

_SOURCE = re.compile(r"\{\{ source\('tpch', '(\w+)'\) \}\}")


def query_text(path: Path) -> str:
    """The query with unqualified table names."""
    return _SOURCE.sub(r"\1", path.read_text(encoding="utf-8"))
