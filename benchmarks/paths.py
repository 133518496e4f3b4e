"""Where the benchmarks read and write: everything outside git is below `.build/`, which git ignores."""

from __future__ import annotations

from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
BUILD = REPOSITORY / ".build"
BENCH_PROJECT = REPOSITORY / "benchmarks" / "project"
DEMO_PROJECT = REPOSITORY / "integration_tests" / "tpch"
RESULTS = REPOSITORY / "benchmarks" / "results"
