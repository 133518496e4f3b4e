"""`dbt clone`: views of production are copied with their states, and the first run here is incremental."""

import pytest
from dbt.tests.util import run_dbt, run_dbt_and_capture

from tests.dbt.shop_project import CHANGES, LINES, REGIONS, modes, responses, run_sql
from tests.dbt.two_environments import CI, STATE, VIEWS, TwoEnvironments, edit
from tests.docs.examples import example

pytestmark = [pytest.mark.dbt, pytest.mark.slow]

CLONE = ["clone", *CI]


# As docs/dbt_commands.md shows it
MACRO = example("docs/dbt_commands.md", "{% materialization clone")


class TestClone(TwoEnvironments):
    def test_the_first_run_is_incremental(self, project):
        assert [str(result.message) for result in run_dbt(CLONE)] == ["CLONE"] * 3
        assert {"No-op"} == {result.message for result in run_dbt(CLONE)}  # they exist now
        run_sql(project, *CHANGES)
        run_dbt(["run", "--target", "ci"])
        assert modes(project) == dict.fromkeys(VIEWS, "incremental"), responses(project)
        assert len(run_dbt(["test", "--target", "ci"])) == 3
        run_dbt(["run", "--target", "ci"])
        assert modes(project) == dict.fromkeys(VIEWS, "no_op")

    @pytest.mark.nightly
    def test_of_an_edited_model(self, project):
        run_sql(project, "insert into {schema}.orders values (6, 1, 4)")  # production does not have it yet
        edit(project, "lines", LINES.replace("o.amount,", "o.amount, o.amount * 2 as double_amount,"))
        run_dbt([*CLONE, "--full-refresh"])
        run_dbt(["run", *CI, "--select", "state:modified+"])
        assert modes(project) == dict.fromkeys(VIEWS, "incremental"), responses(project)

    @pytest.mark.nightly
    def test_production_goes_on(self, project):
        edit(project, "lines", LINES)
        run_sql(project, "insert into {schema}.orders values (7, 1, 3)")
        run_dbt(["run"])
        assert modes(project) == dict.fromkeys(VIEWS, "incremental")

    @pytest.mark.nightly
    def test_what_cannot_be_cloned_is_a_plain_view(self, project, ci):
        run_sql(project, "drop view {schema}.regions", "create view {schema}.regions as select 1 as one")
        hooks = "post_hook=['optimize {{ this }}', after_commit('select 1')]"  # a clone runs none
        edit(project, "regions", REGIONS.replace("refresh_mode=", f"{hooks}, refresh_mode="))
        _, log = run_dbt_and_capture([*CLONE, "--full-refresh", "--select", "+regions"])
        assert "is not an incremental view" in log
        assert [tuple(row) for row in project.run_sql(f"select * from {ci}.regions", fetch="all")] == [(1,)]
        run_dbt(["run", "--target", "ci", "--select", "regions"])
        assert len(run_dbt(["test", "--target", "ci", "--select", "regions"])) == 1

    @pytest.mark.nightly
    def test_of_itself(self, project):
        results = run_dbt(["clone", *STATE, "--full-refresh", "--select", "sums"])
        assert [result.message for result in results] == ["No-op"]


@pytest.mark.nightly
class TestCloneOfTypeSpark(TestClone):
    """With the project's own macro, since dbt-spark has a `clone` for this type."""

    @pytest.fixture(scope="class")
    def dbt_profile_target(self, spark):
        return {"type": "spark", "method": "session", "host": "none", "threads": 2}

    @pytest.fixture(scope="class")
    def macros(self):
        return {"clone.sql": MACRO}
