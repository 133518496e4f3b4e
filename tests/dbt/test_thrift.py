"""The materialization over a thrift server, which is another process."""

import os
import signal

import pytest
from dbt.tests.util import run_dbt

from tests.dbt.shop_project import CHANGES, FEED, MODELS, TABLES, modes, responses, run_sql
from tests.dbt.test_sql_header import DAYS, TWICE
from tests.dbt.test_sql_header import YAML as HEADERS
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


class TestOverThrift:
    @pytest.fixture(scope="class")
    def models(self):
        return MODELS

    def test_create_incremental_no_op(self, project):
        run_sql(project, *TABLES)
        run_dbt(["run"])
        assert modes(project) == dict.fromkeys(("lines", "sums", "regions"), "create")
        run_sql(project, *CHANGES)
        run_dbt(["run"])
        assert modes(project) == dict.fromkeys(("lines", "sums", "regions"), "incremental")
        assert len(run_dbt(["test"])) == 3
        run_dbt(["run"])
        assert modes(project) == dict.fromkeys(("lines", "sums", "regions"), "no_op")
        assert {response["statements"] for response in responses(project).values()} == {0}


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
