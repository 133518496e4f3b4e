"""The report of a run as one HTML document, which needs no other file and no network.

tested  tests/adapter/test_report.py
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from html import escape
from pathlib import Path

from dbt.adapters.sparkivm.report.views_of_run import Run, ViewRun
from dbt.adapters.sparkivm.shown_values import at, count, minutes, seconds

from sparkivm.reasons import Reason

_STYLE = Path(__file__).with_name("report.css")
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
    """The document."""
    parts = [
        _head(project, run),
        _tiles(run),
        _times(run),
        _table(run),
        _reasons(run),
        _history(run),
        _plans(run),
    ]
    title = f"{escape(project)}: incremental views"
    body = "\n".join(filter(None, parts))
    return f"""\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
{_STYLE.read_text()}</style>
</head>
<body>
<main>
{body}
</main>
</body>
</html>
"""


def _head(project: str, run: Run) -> str:
    others = f", and {_number(run.others, 'other node')} in {seconds(run.others_s)}" if run.others else ""
    lines = [
        f"<h1>Incremental views of {escape(project)}</h1>",
        f'<p class="soft"><code>{escape(run.command)}</code> of {at(run.at.isoformat())} took '
        f"{seconds(run.seconds)}: {_number(len(run.views), 'view')}{others}.</p>",
    ]
    if not run.connected:
        lines.append(
            '<p class="soft">This report was made without a connection to Spark, so it has no history, '
            "no times of rebuilds and no plans.</p>"
        )
    return "\n".join(lines)


def _tiles(run: Run) -> str:
    outcomes = Counter(view.outcome for view in run.views)
    tiles = [(str(n), _WORDS.get(outcome, outcome)) for outcome, n in outcomes.most_common()]
    spent = sum(view.seconds for view in run.views)
    tiles.append((seconds(spent) or "", "spent on the views"))
    known = [
        view for view in run.views if view.rebuild_s is not None and view.outcome in ("incremental", "no_op")
    ]
    if known:
        saved = sum((view.rebuild_s or 0) - view.seconds for view in known)
        word = "saved by" if saved >= 0 else "more, for"
        tiles.append(
            (seconds(abs(saved)) or "", f"{word} {_number(len(known), 'view')} against the last rebuild")
        )
    found = (f'<div class="tile"><b>{b}</b><span>{escape(text)}</span></div>' for b, text in tiles)
    return f'<div class="tiles">{"".join(found)}</div>'


def _times(run: Run) -> str:
    """Bars of each view's time in this run, and of its last rebuild."""
    if not run.views:
        return ""
    longest = max(max(view.seconds, view.rebuild_s or 0) for view in run.views) or 1
    rows = []
    for view in run.views:
        bars = [_bar(view.outcome, view.seconds, longest)]
        if view.rebuild_s is not None and view.outcome in ("incremental", "no_op"):
            bars.append(_bar("last", view.rebuild_s, longest))
        rows.append(f'<div class="name">{escape(view.name)}</div><div>{"".join(bars)}</div>')
    outcomes = dict.fromkeys(view.outcome for view in run.views)
    key = _key([(outcome, _WORDS.get(outcome, outcome)) for outcome in outcomes])
    if run.connected:
        key = key.replace("</div>", "<span><i></i>last rebuild</span></div>")
    return _section(
        "Time per view",
        "The colored bar is this run as dbt measured it, with hooks and the public view. "
        "The gray bar is the last rebuild, up to its commit.",
        f'{key}<div class="bars">{"".join(rows)}</div>',
    )


def _bar(kind: str, value: float, longest: float) -> str:
    width = 82 * value / longest
    return f'<div class="bar {kind}"><i style="width:{width:.2f}%"></i><span>{seconds(value)}</span></div>'


def _table(run: Run) -> str:
    numbers = ("+", "-", "~", "sources changed", "took")
    head = "".join(
        f"<th{_class(name in numbers)}>{name}</th>" for name in ("view", "what happened", *numbers, "now")
    )
    rows = "".join(f"<tr>{''.join(_cells(view))}</tr>" for view in run.views)
    return _section(
        "What each view did",
        "+ - ~ are rows of the stored state that were inserted, deleted and updated. "
        "A small state is often written again as a whole; then + counts all rows.",
        f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>',
    )


def _cells(view: ViewRun) -> Iterator[str]:
    response = view.response
    yield f'<td class="name">{escape(view.name)}</td>'
    yield f"<td>{_badge(view.outcome)}</td>"
    for what in ("inserted", "deleted", "updated"):
        yield f"<td{_class(True)}>{count(response.get(f'rows_{what}')) or ''}</td>"
    yield f"<td{_class(True)}>{_changed_sources(view)}</td>"
    yield f"<td{_class(True)}>{seconds(view.seconds)}</td>"
    yield f"<td>{escape(_now(view))}</td>"


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


def _reasons(run: Run) -> str:
    """Why views were rebuilt, or failed."""
    found = []
    for view in run.views:
        code, text = view.reason
        if view.message:
            found.append(_reason(view, view.message, ""))
        elif code:
            way_out = Reason[code].way_out if code in Reason.__members__ else ""
            found.append(_reason(view, f"{code}: {text}", way_out))
    if not found:
        return ""
    return _section(
        "Why views were rebuilt, or failed",
        "A view that is rebuilt is right; it only takes longer.",
        "".join(found),
    )


def _reason(view: ViewRun, what: str, way_out: str) -> str:
    hint = f'<p class="soft">What to do: {escape(way_out)}.</p>' if way_out else ""
    return (
        f'<div class="reason {view.outcome}"><span class="name">{escape(view.name)}</span> '
        f"{_badge(view.outcome)}<p>{escape(what)}</p>{hint}</div>"
    )


def _history(run: Run) -> str:
    known = [view for view in run.views if view.history]
    if not known:
        return ""
    modes = dict.fromkeys(one["mode"] for view in known for one in view.history)
    rows = "".join(
        f'<tr><td class="name">{escape(view.name)}</td><td>{_bars_over_time(view)}</td></tr>'
        for view in known
    )
    return _section(
        "Refreshes over time",
        "One bar per refresh that changed the stored state, the newest on the right. Its height is its time, "
        "relative to the view's longest; point at it for details. Runs with nothing to do leave no bar.",
        f"{_key([(mode, _WORDS.get(mode, mode)) for mode in modes])}"
        f'<div class="scroll"><table class="history"><tbody>{rows}</tbody></table></div>',
    )


def _bars_over_time(view: ViewRun) -> str:
    longest = max((one["seconds"] or 0 for one in view.history), default=0) or 1
    bars = []
    for one in reversed(view.history):
        height = max(6, round(_TALLEST * (one["seconds"] or 0) / longest))
        rows = (count(one[f"rows_{what}"]) for what in ("inserted", "deleted", "updated"))
        changed = " ".join(f"{sign}{n}" for sign, n in zip("+-~", rows, strict=True) if n is not None)
        details = [
            at(one["at"]),
            _WORDS.get(one["mode"], one["mode"]),
            seconds(one["seconds"]),
            changed,
            one["reason"],
        ]
        title = escape(", ".join(filter(None, details)))
        bars.append(f'<i class="{one["mode"]}" style="height:{height}px" title="{title}"></i>')
    return f'<div class="times">{"".join(bars)}</div>'


def _plans(run: Run) -> str:
    found = []
    for view in run.views:
        if view.plan or view.problem:
            drawn = (
                f'<div class="drawing">{view.plan}</div>' if view.plan else f"<p>{escape(view.problem)}</p>"
            )
            found.append(f"<details><summary>{escape(view.name)}</summary>{drawn}</details>")
    if not found:
        return ""
    return _section(
        "Plans",
        "How each view follows its sources: the view at the top, the tables that it reads at the bottom. "
        "In italics: how changes pass through an operator.",
        "".join(found),
    )


def _section(title: str, text: str, content: str) -> str:
    return f'<section>\n<h2>{title}</h2>\n<p class="soft">{text}</p>\n{content}\n</section>'


def _key(entries: Iterable[tuple[str, str]]) -> str:
    items = (f'<span class="{kind}"><i></i>{escape(text)}</span>' for kind, text in entries)
    return f'<div class="key">{"".join(items)}</div>'


def _badge(outcome: str) -> str:
    return f'<span class="badge {outcome}">{escape(_WORDS.get(outcome, outcome))}</span>'


def _class(is_number: bool) -> str:
    return ' class="number"' if is_number else ""


def _number(n: int, noun: str) -> str:
    return f"{n} {noun if n == 1 else noun + 's'}"
