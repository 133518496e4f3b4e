"""The materialization over a thrift server, which is another process."""

import os
import signal

import pytest
from dbt.tests.util import run_dbt

from tests.dbt.other_dbt import VERSIONS, run_with
from tests.dbt.server_project import ServerProject
from tests.dbt.shop_project import FEED, modes, responses_in, run_sql
from tests.dbt.spark_project import modes_of_views
from tests.dbt.test_sql_header import DAYS, TWICE
from tests.dbt.test_sql_header import YAML as HEADERS
from tests.dbt.test_type_spark import SparkProject
from tests.dbt.thrift_server import profile, start_server

pytestmark = [
    pytest.mark.thrift,
    pytest.mark.slow,
    pytest.mark.xdist_group("thrift"),  # one server for all tests
]


@pytest.fixture(scope="module")
def port(tmp_path_factory):
    number, process = start_server(tmp_path_factory.mktemp("thrift"))
    yield number
    os.kill(process, signal.SIGTERM)


@pytest.fixture(scope="class")
def dbt_profile_target(port):
    return profile(port)


class TestOverThrift(ServerProject):
    pass


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
