"""The materialization over a thrift server, which is another process."""

import os
import signal

import pytest
from dbt.tests.util import run_dbt, write_file

from tests.dbt.other_dbt import VERSIONS, run_with
from tests.dbt.shop_project import (
    CHANGES,
    FEED,
    MODELS,
    TABLES,
    modes,
    responses,
    responses_in,
    rows,
    run_sql,
)
from tests.dbt.spark_project import modes_of_views
from tests.dbt.test_sql_header import DAYS, TWICE
from tests.dbt.test_sql_header import YAML as HEADERS
from tests.dbt.test_type_spark import SparkProject
from tests.dbt.thrift_server import start_server

pytestmark = [pytest.mark.thrift, pytest.mark.slow]


@pytest.fixture(scope="module")
def port(tmp_path_factory):
    number, process = start_server(tmp_path_factory.mktemp("thrift"))
    yield number
    os.kill(process, signal.SIGTERM)


@pytest.fixture(scope="class")
def dbt_profile_target(port):
    return {
        "type": "sparkivm",
        "method": "thrift",
        "host": "127.0.0.1",
        "port": port,
        "user": "dbt",
        "threads": 2,
    }


HEAD = "{{ config(materialized='incremental_view', contract={'enforced': true}) }} "
FROM = "from {{ source('shop', 'orders') }} "
DAY = (
    "{{ config(materialized='incremental_view', pre_hook=\"set my.day={{ var('day') }}\", persist_docs={'relation': true}) }} "
    f"select id, lower('${{my.day}}') as day, '${{env:HOME}}' as home {FROM}"
)


class TestOverThrift:
    @pytest.fixture(scope="class")
    def models(self):
        return MODELS

    @pytest.fixture(scope="class", autouse=True)
    def tables(self, project):
        run_sql(project, *TABLES)

    def test_create_incremental_no_op(self, project):
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
    def test_commands_do_not_run(self, project):
        run_sql(project, "create table {schema}.kept (id int) using delta")
        for text in (
            FROM + "insert into {{ target.schema }}.kept select id",
            "select 1 as id) as x, (select 2 as b",
            "begin insert into {{ target.schema }}.kept values (1); select 1 as id; end",
        ):
            write_file(HEAD + text, project.project_root, "models", "bad.sql")
            (result,) = run_dbt(["run", "--select", "bad"], expect_pass=False)
            assert "incremental_view" in result.message
        assert rows(project, "kept") == []
        os.remove(os.path.join(project.project_root, "models", "bad.sql"))

    @pytest.mark.nightly
    def test_values_are_text(self, project):
        """The server substitutes them in the SQL, and keeps the description as written."""
        yaml = "models: [{name: day, description: '${env:HOME}'}]"
        write_file(yaml, project.project_root, "models", "day.yml")
        write_file(DAY, project.project_root, "models", "day.sql")
        for day, mode in (("mon", "create"), ("mon", "no_op"), ("tue", "full")):
            run_dbt(["run", "--select", "day", "--vars", f"{{day: {day}}}"])
            assert modes(project) == {"day": mode}
            assert {row[1:] for row in rows(project, "day")} == {(day, os.environ["HOME"])}
        described = project.run_sql(f"describe extended {project.test_schema}.day", fetch="all")
        assert {row[0]: row[1] for row in described}["Comment"] == "${env:HOME}"
        for name in ("day.sql", "day.yml"):
            os.remove(os.path.join(project.project_root, "models", name))


@pytest.mark.nightly
class TestSqlHeaderOverThrift:
    @pytest.fixture(scope="class")
    def models(self):
        return {"days.sql": DAYS.format(zone="Asia/Tokyo"), "twice.sql": TWICE, "shop.yml": HEADERS}

    def test_it_is_executed_in_the_session_of_the_refresh(self, project):
        run_sql(
            project,
            f"create table {{schema}}.visits (id int, at timestamp) {FEED}",
            "insert into {schema}.visits values (1, timestamp'2024-03-01 20:00:00 UTC')",
        )
        for wanted in ("create", "no_op"):
            run_dbt(["run"])
            assert modes(project) == {"days": wanted, "twice": wanted.replace("no_op", "full")}
        found = project.run_sql(f"select cast(day as string), n from {project.test_schema}.days", fetch="all")
        assert list(map(tuple, found)) == [("2024-03-02", 1)]
        assert len(run_dbt(["test"])) == 2


@pytest.mark.nightly
class TestTypeSparkOverThrift(SparkProject):
    @pytest.fixture(scope="class")
    def dbt_profile_target(self, port):
        server = {"method": "thrift", "host": "127.0.0.1", "port": port, "user": "dbt"}
        return {"type": "spark", "threads": 2, "poll_interval": 1, **server}


@pytest.mark.nightly
@pytest.mark.parametrize("version", VERSIONS)
def test_another_version_of_dbt(version, port, tmp_path):
    """Run the project of `type: spark` from parsing to an incremental refresh."""
    run_with(version, tmp_path, port)
    assert modes_of_views(responses_in(tmp_path)) == {
        "sales": "incremental",
        "of_regions": "incremental",
        "priced_orders": "incremental",
    }
