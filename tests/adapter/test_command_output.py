"""What the subcommands print of what operations tell, without dbt: tables for people, JSON as it is."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from click.testing import CliRunner
from dbt.adapters.sparkivm.command import main
from dbt.adapters.sparkivm.command.explain import FORMATS as OFFERED
from dbt.adapters.sparkivm.command.project import Project
from dbt.adapters.sparkivm.shown_values import minutes, seconds, size

from sparkivm.explain.explain_view import FORMATS

REFRESH = {
    "at": "2026-01-02T03:04:05.678000+00:00", "version": 7, "mode": "full", "form": "rebuild",
    "reason": "CHEAPER_IN_FULL", "detail": "estimated 9 s", "rows_inserted": 12345, "rows_updated": None,
    "rows_deleted": 0, "seconds": 12.34,
}  # fmt: skip
BEHIND = {"behind": True, "commits_behind": 3, "minutes_behind": 300.0, "history_days": 6.25}
CURRENT = {"behind": False, "commits_behind": 0, "minutes_behind": None, "history_days": None}
VIEW = {
    "view": "shop.sales", "model": "model.shop.sales", "condition": "behind", "problem": "", "last_refresh": REFRESH,
    "saved_seconds": None, "rows": 4321, "files": 2, "bytes": 123456, "sources": [BEHIND, CURRENT],
}  # fmt: skip
NOT_BUILT = {
    **VIEW, "view": "shop.new", "condition": "not_built", "problem": "STATE_MISSING: the view has no state yet",
    "last_refresh": None, "rows": None, "files": None, "bytes": None, "sources": [],
}  # fmt: skip


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What each operation tells; the calls are under `calls`."""
    found: dict[str, Any] = {"calls": []}

    def operation(
        self: Project,
        macro: str,
        arguments: dict[str, object],
        as_printed: Callable[[str], None] = lambda text: None,
    ) -> list[str]:
        found["calls"].append((macro, dict(arguments)))
        texts = ["printed by a model", json.dumps(found[macro])]
        for text in texts:
            as_printed(text)
        return texts

    monkeypatch.setattr(Project, "operation", operation)
    monkeypatch.setattr(Project, "views", lambda self, select: [f"model.shop.{one}" for one in select])
    return found


def said(*arguments: str, exit_code: int = 0) -> str:
    done = CliRunner().invoke(main, arguments, catch_exceptions=False)
    assert done.exit_code == exit_code, done.output
    return done.output


def test_status_as_a_table(told):
    told["incremental_view_status"] = [VIEW, NOT_BUILT]
    head, sales, new, _, *notes = said("status").splitlines()
    assert head.split()[:3] == ["view", "is", "last"]
    for text in (
        "shop.sales",
        "behind",
        "full",
        "12.3 s",
        "3 commits, 5.0 h",
        "6.2 days",
        "4,321",
        "121 KB, 2 files",
    ):
        assert text in sales
    assert new.split() == ["shop.new", "not", "built"]
    assert notes == [
        "shop.sales: last refresh full: CHEAPER_IN_FULL: estimated 9 s",
        "shop.new: STATE_MISSING: the view has no state yet",
    ]


def test_status_of_a_selection_as_json(told):
    told["incremental_view_status"] = [VIEW]
    assert json.loads(said("status", "--select", "sales", "new", "--format", "json")) == [VIEW]
    assert told["calls"] == [("incremental_view_status", {"views": ["model.shop.sales", "model.shop.new"]})]
    told["incremental_view_status"] = []
    assert "no incremental view" in said("status")


def test_history(told):
    told["incremental_view_history"] = [REFRESH]
    line = said("history", "sales", "--limit", "3").splitlines()[1]
    assert line.split()[2:] == [
        "full",
        "rebuild",
        "12.3",
        "s",
        "12,345",
        "0",
        "CHEAPER_IN_FULL:",
        "estimated",
        "9",
        "s",
    ]
    assert told["calls"] == [("incremental_view_history", {"view": "sales", "limit": 3})]
    assert json.loads(said("history", "sales", "--format", "json")) == [REFRESH]


def test_changes(told):
    rows = [
        {"change": "added", "times": 1, "values": [1, "[x]"]},
        {"change": "removed", "times": 2, "values": [2, None]},
    ]
    found = {
        "view": "shop.sales",
        "refresh": REFRESH,
        "columns": ["id", "name"],
        "rows": rows,
        "complete": False,
    }
    told["incremental_view_changes"] = found
    lines = said("changes", "sales", "--limit", "2").splitlines()
    assert [line.split() for line in lines[2:5]] == [
        ["times", "id", "name"],
        ["+", "1", "1", "[x]"],
        ["-", "2", "2"],
    ]
    assert "there are more" in lines[-1]
    told["incremental_view_changes"] = {**found, "rows": [], "complete": True}
    assert "no row of the view changed" in said("changes", "sales")


LEFT = {
    "relation": "shop.old__ivm", "role": "state", "model": "model.shop.old", "why": "it is not built",
    "dropped": False, "problem": "",
}  # fmt: skip
UNREAD = {
    **LEFT,
    "relation": "shop.x__ivm",
    "role": None,
    "model": None,
    "why": "",
    "problem": "it cannot be read",
}


def test_leftovers(told):
    told["incremental_view_leftovers"] = [LEFT]
    assert "--drop` drops them" in said("leftovers")
    assert json.loads(said("leftovers", "--format", "json")) == [LEFT]
    dropped = {**LEFT, "dropped": True}
    told["incremental_view_leftovers"] = [dropped]
    assert said("leftovers", "--drop").split()[-1] == "yes"
    assert json.loads(said("leftovers", "--drop", "--format", "json")) == [dropped]
    assert [arguments["drop"] for _, arguments in told["calls"]] == [False, False, True, True]


def test_leftovers_with_problems(told):
    stays = {**LEFT, "problem": "it cannot be dropped: no permission"}
    told["incremental_view_leftovers"] = [{**LEFT, "dropped": True, "problem": "a tag stays"}, stays, UNREAD]
    for options in ((), ("--format", "json")):
        text = said("leftovers", "--drop", *options, exit_code=1)
        for one in ("a tag stays", "it cannot be dropped: no permission", "it cannot be read"):
            assert one in text
    told["incremental_view_leftovers"] = [UNREAD]
    assert said("leftovers", "--drop") == "there are no leftovers\n\nshop.x__ivm: it cannot be read\n"


def test_formats_of_explain(told):
    told["explain_incremental_view"] = "plan"
    assert OFFERED == FORMATS
    assert said("explain", "sales", "--format", "svg") == '"plan"\n'
    assert told["calls"] == [("explain_incremental_view", {"model": "sales", "format": "svg"})]


@pytest.mark.parametrize(
    ("shown", "value", "text"),
    [
        (seconds, 0.314, "0.31 s"), (seconds, 12.0, "12.0 s"), (seconds, 1234, "21 min"), (seconds, None, None),
        (minutes, 7.4, "7 min"), (minutes, 300, "5.0 h"), (minutes, 4000, "2.8 days"), (minutes, None, None),
        (size, 12, "12 B"), (size, 1536, "1.5 KB"), (size, 5 << 40, "5.0 TB"), (size, None, None),
    ],
)  # fmt: skip
def test_times_and_sizes(shown, value, text):
    assert shown(value) == text
