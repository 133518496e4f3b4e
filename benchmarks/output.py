"""The files of a result: the table as text, the same as JSON, and a picture, side by side."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from benchmarks.bars import Bar, Section, picture
from benchmarks.bench import Outcome
from benchmarks.report import report
from benchmarks.result import Result


def write(outcome: Outcome, suite: str, conditions: str, measured_with: str, json_file: Path) -> list[Path]:
    """Write the three files, which differ only in their suffix. Returns: their paths."""
    rows = [{**result.as_json(), "versions": measured_with} for result in outcome.results]
    texts = {
        ".json": json.dumps(rows, indent=2, ensure_ascii=False) + "\n",
        ".txt": f"suite {suite}: {conditions}\n{measured_with}\n\n{as_text(outcome)}\n",
        ".svg": outcome.picture or bars_of(outcome.results, suite, conditions, measured_with),
    }
    paths: list[Path] = []
    for suffix, text in texts.items():
        path = json_file.with_suffix(suffix)
        path.write_text(text, encoding="utf-8")
        paths.append(path)
    return paths


def as_text(outcome: Outcome) -> str:
    """The whole printed text of an outcome."""
    return "\n\n".join([report(outcome.results), *(["\n".join(outcome.notes)] if outcome.notes else [])])


def bars_of(results: Sequence[Result], suite: str, conditions: str, measured_with: str) -> str:
    """One bar per result; the title has the number of faster ones."""
    faster = sum(one.refresh_s < one.full_s for one in results)
    bars = [Bar(one.name, one.full_s, one.refresh_s) for one in results]
    title = f"{suite}: {faster} of {len(results)} are faster than a rebuild"
    return picture(title, conditions, [Section("seconds", bars)], measured_with)
