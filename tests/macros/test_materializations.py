"""What the materializations call, and in which order; without Spark and a project."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn

import pytest
from dbt_common.clients.jinja import get_environment
from dbt_common.exceptions.macros import MacroReturn
from dbt_common.utils.jinja import get_dbt_macro_name
from jinja2.meta import find_undeclared_variables

FOLDER = Path(__file__).parents[2] / "macros" / "materializations"


class Relation(SimpleNamespace):
    """Of dbt."""

    @property
    def is_view(self) -> bool:
        return bool(self.type == "view")

    def incorporate(self, type: str) -> Relation:
        return Relation(name=self.name, type=type)

    def render(self) -> str:
        return str(self.name)


VIEW, TABLE = (Relation(name="ci.v", type=kind) for kind in ("view", "table"))


class Calls:
    """Records the calls of macros and of the adapter's methods.

    answers  what they return; others return None, or the text of their {% call %}
    """

    def __init__(self, **answers: Any) -> None:
        self.made: list[str] = []
        self.answers = answers

    def __getattr__(self, name: str) -> Any:
        def call(*args: Any, caller: Any = None, **kwargs: Any) -> Any:
            text = caller().strip() if caller else None
            self.made.append(f"{name}: {text}" if text else name)
            return self.answers.get(name, text)

        return call

    def run(self, file: str, macro: str, **given: Any) -> Any:
        """Returns: what the macro returned."""
        text, environment = (FOLDER / file).read_text(), get_environment()
        context: dict[str, Any] = {
            name: getattr(self, name) for name in find_undeclared_variables(environment.parse(text))
        }
        context |= {
            "adapter": self,
            "return": _return,
            "config": SimpleNamespace(get=given.pop("options", {}).get, persist_column_docs=lambda: True),
            "context": context,
            "this": Relation(name="ci.v", type=None),
            **given,
        }
        module = vars(environment.from_string(text).make_module(context))
        prefix = get_dbt_macro_name("")
        own = {name.removeprefix(prefix): one for name, one in module.items() if name.startswith(prefix)}
        context |= {name: partial(_called, one) for name, one in own.items()}
        return context[macro]()


def _return(value: Any) -> NoReturn:
    raise MacroReturn(value)


def _called(macro: Any, *args: Any) -> Any:
    try:
        return macro(*args)
    except MacroReturn as done:
        return done.value


def clone(existing: Relation | None, **answers: Any) -> Calls:
    calls = Calls(load_cached_relation=existing, **answers)
    done = calls.run(
        "clone.sql",
        "clone_incremental_view",
        defer_relation=Relation(name="prod.v", type=None),
        flags=SimpleNamespace(FULL_REFRESH=True),
        sql="select * from prod.v",
    )
    calls.made.append(done["relations"][0].type)
    return calls


def test_comments_come_before_grants():
    """They may replace the view, which has no grants then."""
    order = ["persist_incremental_view_docs", "should_revoke", "apply_grants"]
    refreshed = SimpleNamespace(response="", script_text="", relations=[])
    calls = Calls(refresh_incremental_view=refreshed, hooks_in_order=[])
    calls.run(
        "incremental_view.sql",
        "materialization_incremental_view_spark",
        options={"contract": SimpleNamespace(enforced=False)},
        flags=SimpleNamespace(EMPTY=False),
    )
    assert [call for call in calls.made if call in order] == order
    cloned = SimpleNamespace(response="", relations=[VIEW])
    assert clone(None, clone_incremental_view=cloned).made[-4:-1] == order


AS_A_VIEW = ["get_create_view_as_sql", "statement: create", "should_revoke", "apply_grants", "view"]


@pytest.mark.parametrize(
    ("existing", "calls"),
    [
        (None, AS_A_VIEW),
        (VIEW, AS_A_VIEW),
        (TABLE, ["get_columns_in_query", "drop_relation", *AS_A_VIEW]),
    ],
)
def test_what_cannot_be_cloned_is_a_plain_view(existing, calls):
    """Without hooks, as a clone is made, and without `alter table`, which dbt's view gets for its columns' comments."""
    found = clone(existing, get_create_view_as_sql="create")
    assert found.made == ["load_cached_relation", "clone_incremental_view", *calls]


def seed(macros: Any = (), **answers: Any) -> Calls:
    rows = SimpleNamespace(rows=[(1,), (2,)])
    calls = Calls(load_agate_table=rows, hooks_in_order=[], **answers)
    calls.run("seed.sql", "materialization_seed_incremental_view", **dict(macros))
    return calls


@pytest.mark.parametrize("own", [False, True])
def test_a_seed_whose_table_cannot_stay_is_left_to_the_project_or_to_dbt(own):
    calls = Calls()
    project = {"materialization_seed_spark": calls.materialization_seed_spark} if own else {}
    seed(project | {"materialization_seed_default": calls.materialization_seed_default})
    assert calls.made == ["materialization_seed_spark" if own else "materialization_seed_default"]


def test_a_seed_whose_table_a_hook_dropped_is_created_as_dbt_does():
    load = [
        "create_csv_table",
        "load_csv_rows",
        "get_csv_sql",
        "noop_statement: rows;",
        "remember_seed_table",
    ]
    made = seed(keeps_seed_table=True, should_full_refresh=False, get_csv_sql="rows").made
    assert made[made.index("update_seed_table") + 1 :][: len(load)] == load
    assert made.count("run_hooks") == 2
    kept = seed(keeps_seed_table=True, should_full_refresh=False, update_seed_table="NO_OP").made
    assert "create_csv_table" not in kept
