"""The report of a run as one HTML document, which needs no other file and no network.

tested  tests/adapter/test_report.py
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from dbt.adapters.sparkivm.report.views_of_run import Run, ViewRun
from dbt.adapters.sparkivm.shown_values import at, count, minutes, seconds
from jinja2 import Environment, FileSystemLoader

from sparkivm.reasons import Reason

_WORDS = {
    "incremental": "refreshed from changes",
    "no_op": "nothing to do",
    "create": "first build",
    "full": "rebuilt",
    "error": "failed",
    "skipped": "skipped",
    "edited": "query edited, rows kept",
    "unknown": "by another version",
}
_TALLEST = 44  # pixels of a bar in the history


def page(project: str, run: Run) -> str:
    templates = FileSystemLoader(Path(__file__).parent)
    environment = Environment(loader=templates, autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {"at": at, "count": count, "seconds": seconds, "number": _number}
    times = (max(view.seconds, view.rebuild_s or 0) for view in run.views)
    environment.globals |= {"words": _WORDS, "longest": max(times, default=0) or 1}
    return environment.get_template("page.html").render(
        project=project,
        run=run,
        tiles=list(_tiles(run)),
        reasons=list(_reasons(run)),
        modes=list(dict.fromkeys(one["mode"] for view in run.views for one in view.history)),
        changed_sources=_changed_sources,
        now=_now,
        bars=_bars_over_time,
    )


def _tiles(run: Run) -> Iterator[tuple[object, str]]:
    for outcome, n in Counter(view.outcome for view in run.views).most_common():
        yield n, _WORDS.get(outcome, outcome)
    yield seconds(sum(view.seconds for view in run.views)), "spent on the views"
    saved = [view.compared_s - view.seconds for view in run.views if view.compared_s is not None]
    if saved:
        word = "saved by" if sum(saved) >= 0 else "more, for"
        yield seconds(abs(sum(saved))), f"{word} {_number(len(saved), 'view')} against the last rebuild"


def _changed_sources(view: ViewRun) -> str:
    sources = json.loads(view.response.get("sources") or "[]")
    if not sources or view.outcome != "incremental":
        return ""
    changed = sum(source["from_version"] != source["to_version"] for source in sources)
    return f"{changed} of {len(sources)}"


def _now(view: ViewRun) -> str:
    """How up to date the view is when the report is made."""
    status = view.status
    if not status:
        return ""
    if status["problem"]:
        return str(status["problem"])
    behind = [source for source in status["sources"] if source["behind"]]
    if not behind:
        return "current"
    since = max(source["minutes_behind"] or 0 for source in behind)
    return f"{_number(len(behind), 'source')} changed since, {minutes(since)} ago"


def _reasons(run: Run) -> Iterator[tuple[ViewRun, str, str]]:
    """Why views were rebuilt, or failed, and what to do."""
    for view in run.views:
        code, text = view.reason
        if view.message:
            yield view, view.message, ""
        elif code:
            yield view, f"{code}: {text}", Reason[code].way_out if code in Reason.__members__ else ""


def _bars_over_time(view: ViewRun) -> Iterator[tuple[str, int, str]]:
    """(mode, height in pixels, details) of each refresh, the oldest first."""
    longest = max((one["seconds"] or 0 for one in view.history), default=0) or 1
    for one in reversed(view.history):
        height = max(6, round(_TALLEST * (one["seconds"] or 0) / longest))
        rows = (count(one[f"rows_{what}"]) for what in ("inserted", "deleted", "updated"))
        changed = " ".join(f"{sign}{n}" for sign, n in zip("+-~", rows, strict=True) if n is not None)
        mode = _WORDS.get(one["mode"], one["mode"])
        details = [at(one["at"]), mode, seconds(one["seconds"]), changed, one["reason"]]
        yield one["mode"], height, ", ".join(filter(None, details))


def _number(n: int, noun: str) -> str:
    return f"{n} {noun if n == 1 else noun + 's'}"
