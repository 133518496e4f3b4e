"""Models are checked against what the models before them would build; nothing exists but `shop.t`."""

from __future__ import annotations

import pytest

from sparkivm.check.built_as import table_of, view_of
from sparkivm.check.check_model import Checked, check_model
from sparkivm.check.project_engine import ProjectEngine
from sparkivm.engine import Field
from sparkivm.errors import InternalError, ModelError
from sparkivm.names import TableName
from sparkivm.reasons import Place, Reason
from sparkivm.refresh.request import StateLayout
from sparkivm.refresh.sources.pins import Pins
from tests.refresh.lab import SCHEMA, Lab

SUMS = "select k, count(*) as n, sum(x) as s from shop.t group by k"


class Project:
    """A project over one table."""

    def __init__(self) -> None:
        self.lab = Lab()
        self.lab.table("t", "id int, k int, x int", "(1, 1, 1)")
        self.engine, self.pins = ProjectEngine(self.lab.engine), Pins()

    def check(self, sql: str, name: str = "m", **options: object) -> Checked:
        return check_model(self.engine, self.pins, self.lab.view(name, sql, **options).request)

    def view(self, name: str, sql: str) -> None:
        full_name = TableName(SCHEMA, name)
        self.engine.add([view_of(self.engine, full_name, sql, self.engine.schema_of(sql))])

    def table(self, name: str, sql: str, format: str = "delta") -> None:
        self.engine.add([table_of(TableName(SCHEMA, name), self.engine.schema_of(sql), format)])

    def incremental_view(self, name: str, sql: str) -> None:
        self.engine.add(self.check(sql, name).relations)


@pytest.fixture
def project():
    found = Project()
    yield found
    assert found.lab.names() == ["t"], "nothing was created"
    assert not [sql for sql in found.lab.engine.ran if not sql.startswith(("create table", "insert"))]


def reason(outcome: Checked) -> Reason | None:
    return outcome.fallback and outcome.fallback.reason


def test_an_incremental_model(project):
    assert project.check(SUMS) == Checked(None, (), project.check(SUMS).relations)


def test_a_full_one_has_its_place(project):
    found = project.check("select id,\n  rand() as r from shop.t").fallback
    assert found.reason is Reason.NON_DETERMINISTIC_EXPRESSION
    assert found.place == Place(2, 3, "RAND()")


@pytest.mark.parametrize("made_as", ["view", "table", "incremental_view"])
def test_over_a_model_that_is_not_built(project, made_as):
    getattr(project, made_as)("sums", SUMS)
    over = "select shop.sums.n, count(*) as c from shop.sums join shop.t as u on u.k = sums.k group by shop.sums.n"
    assert reason(project.check(over)) is None
    assert project.engine.in_catalog(TableName(SCHEMA, "sums")) is None


def test_through_a_chain_of_models(project):
    project.view("a", "select k, x from shop.t")
    project.incremental_view("b", "select k, max(x) as x from shop.a group by k order by k limit 3")
    project.view("c", "select k, x + 1 as y from b")
    assert reason(project.check("select k, sum(y) as s from shop.c group by k")) is None


def test_the_text_decides_not_what_is_built(project):
    project.table("t", "select 1 as other, 2 as names")
    assert reason(project.check("select other, names from shop.t")) is None
    with pytest.raises(ModelError, match="Spark refuses"):
        project.check("select id from shop.t")


@pytest.mark.parametrize(
    ("made_as", "expected"),
    [("view", Reason.NON_DETERMINISTIC_EXPRESSION), ("table", None), ("incremental_view", None)],
)
def test_only_a_plain_view_passes_its_reason_on(project, made_as, expected):
    getattr(project, made_as)("random", "select id, rand() as r from shop.t")
    found = project.check("select id,\n r from shop.random where id > 1")
    assert reason(found) is expected
    if expected is not None:
        assert found.fallback.detail.startswith("in the view shop.random: ")
        assert found.fallback.place == Place(2, 14, "shop.random"), "in the model's text"


def test_a_table_without_versions_is_read_through_a_mirror(project):
    project.table("p", "select id, x from shop.t", "parquet")
    found = project.check("select sum(x) as s from shop.p")
    assert (found.fallback, found.mirrored) == (None, (TableName(SCHEMA, "p"),))


def test_a_table_that_cannot_have_a_mirror(project):
    project.engine.add(
        [table_of(TableName(SCHEMA, "p"), (Field("m", "map<int,int>"), Field("x", "int")), "csv")]
    )
    found = project.check("select sum(x) as s from shop.p").fallback
    assert found.reason is Reason.TYPE_NOT_SUPPORTED
    assert found.detail.startswith("m of shop.p has type map<int,int>")


def test_an_option_counts(project):
    sql = "select v, count(*) as n from (select k, max_by(id, x) as v from shop.t group by k) as q group by v"
    assert reason(project.check(sql)) is None
    assert reason(project.check(sql, auxiliary_views="never")) is Reason.OPERATOR_NOT_SUPPORTED


@pytest.mark.parametrize(
    ("layout", "message"),
    [
        (StateLayout(partition_by=("day",)), "partition_by names day, which the state does not have"),
        (StateLayout(liquid_clustered_by=("day",)), "liquid_clustered_by names day"),
        (StateLayout(file_format="iceberg"), "the catalog spark_catalog cannot have Iceberg tables"),
    ],
)
def test_a_layout_that_the_state_cannot_have(project, layout, message):
    with pytest.raises(ModelError, match=message):
        project.check(SUMS, layout=layout)


def test_a_name_that_the_format_of_the_state_reserves(project):
    with pytest.raises(ModelError, match="_change_type has a name that Delta reserves"):
        project.check("select id as _change_type from shop.t")


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("select id from shop.nothing", "shop.nothing"),
        ("select id from shop.m", "the model reads itself"),
        ("select nothing from shop.t", "Spark refuses"),
        ("insert into shop.t values (1, 1, 1)", "not a SELECT"),
        ("", "no SELECT"),
    ],
)
def test_what_cannot_be_checked(project, sql, said):
    with pytest.raises(ModelError, match=said):
        project.check(sql)


def test_a_text_that_only_spark_reads(project):
    """Its readers are checked only if it is built."""
    project.lab.engine.shows["frobnicate"] = (Field("a", "int"),)
    project.lab.engine.check_query = lambda sql: None
    found = project.check("select a from shop.t frobnicate the rows")
    assert reason(found) is Reason.SQL_NOT_UNDERSTOOD


def test_a_check_executes_nothing(project):
    for ask in (project.engine.execute, project.engine.query, project.engine.execute_quietly):
        with pytest.raises(InternalError, match="a check would"):
            ask("drop table shop.t")
