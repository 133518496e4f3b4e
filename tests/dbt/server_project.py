"""The main project over a server, which is reached by SQL alone."""

from __future__ import annotations

import os
from typing import Any

import pytest
from dbt.tests.util import run_dbt, write_file

from tests.dbt.shop_project import CHANGES, FEED, MODELS, modes, responses, rows, run_sql, sources_in

_HEAD = "{{ config(materialized='incremental_view', contract={'enforced': true}) }} "
_FROM = "from {{ source('shop', 'orders') }} "
_DAY = (
    "{{ config(materialized='incremental_view', pre_hook=\"set my.day={{ var('day') }}\", persist_docs={'relation': true}) }} "
    f"select id, lower('${{my.day}}') as day, '${{env:HOME}}' as home {_FROM}"
)


class ServerProject:
    """The tests of a method; a subclass has the fixture `dbt_profile_target`."""

    USING = FEED  # of the sources

    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        return MODELS

    @pytest.fixture(scope="class", autouse=True)
    def sources(self, project: Any) -> None:
        run_sql(project, *sources_in(self.USING))

    def test_create_incremental_no_op(self, project: Any) -> None:
        run_dbt(["run"])
        assert modes(project) == dict.fromkeys(("lines", "sums", "regions"), "create")
        run_sql(project, *CHANGES)
        run_dbt(["run"])
        assert modes(project) == dict.fromkeys(("lines", "sums", "regions"), "incremental")
        assert len(run_dbt(["test"])) == 3
        run_dbt(["run"])
        assert modes(project) == dict.fromkeys(("lines", "sums", "regions"), "no_op")
        assert {response["statements"] for response in responses(project).values()} == {0}

    @pytest.mark.nightly
    def test_commands_do_not_run(self, project: Any) -> None:
        run_sql(project, f"create table {{schema}}.kept (id int) {self.USING}")
        for text in (
            _FROM + "insert into {{ target.schema }}.kept select id",
            "select 1 as id) as x, (select 2 as b",
            "begin insert into {{ target.schema }}.kept values (1); select 1 as id; end",
        ):
            write_file(_HEAD + text, project.project_root, "models", "bad.sql")
            (result,) = run_dbt(["run", "--select", "bad"], expect_pass=False)
            assert "incremental_view" in result.message
        assert rows(project, "kept") == []
        os.remove(os.path.join(project.project_root, "models", "bad.sql"))

    @pytest.mark.nightly
    def test_values_are_text(self, project: Any) -> None:
        """The server substitutes them in the SQL, and keeps the description as written."""
        yaml = "models: [{name: day, description: '${env:HOME}'}]"
        write_file(yaml, project.project_root, "models", "day.yml")
        write_file(_DAY, project.project_root, "models", "day.sql")
        for day, mode in (("mon", "create"), ("mon", "no_op"), ("tue", "full")):
            run_dbt(["run", "--select", "day", "--vars", f"{{day: {day}}}"])
            assert modes(project) == {"day": mode}
            assert {row[1:] for row in rows(project, "day")} == {(day, os.environ["HOME"])}
        described = project.run_sql(f"describe extended {project.test_schema}.day", fetch="all")
        assert {row[0]: row[1] for row in described}["Comment"] == "${env:HOME}"
        for name in ("day.sql", "day.yml"):
            os.remove(os.path.join(project.project_root, "models", name))
