"""What the engine reports about relations; calls into the JVM and SQL give the same answers."""

import time

import pytest

from sparkivm.engine import EngineError, Field
from sparkivm.names import TableName
from sparkivm.spark.data_types import spark_type
from tests.plain_engine import PlainEngine

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def schema(spark):
    spark.sql("create schema metadata")
    spark.sql("create table metadata.p using parquet as select 1 as a, 'x' as b")
    spark.sql(
        "create table metadata.d (a int not null, b varchar(5), c decimal(10,2), "
        "s struct<x: int, y: array<string>>, `odd ``name` date) using delta partitioned by (a) "
        "tblproperties (delta.enableChangeDataFeed = true, delta.columnMapping.mode = 'name')"
    )
    spark.sql("create table metadata.chars (a char(3), b string, `odd``name` char(12) not null) using delta")
    spark.sql("create table metadata.others (a char(3), b varchar(4)) using parquet")
    spark.sql("create view metadata.swapped as select b as a, a as b from metadata.chars")
    spark.sql("create table metadata.off using delta as select 1L as id")
    spark.sql(
        "create view metadata.v (k, `other name` comment 'it') tblproperties (mine = 'x') "
        "as select a, b from metadata.d"
    )
    yield "metadata"
    spark.sql("drop schema metadata cascade")


@pytest.fixture(scope="module")
def engines(spark):
    return PlainEngine(spark), PlainEngine(spark, by_sql=True)


def both(engines, question):
    by_calls, by_sql = (question(engine) for engine in engines)
    assert by_calls == by_sql
    return by_calls


def test_delta_table(engines, schema):
    facts = both(engines, lambda e: e.describe(TableName(schema, "d")))
    assert (facts.kind, facts.version, facts.partition_columns) == ("delta", 0, ("a",))
    assert facts.properties["delta.enableChangeDataFeed"] == "true"
    assert facts.fields == (
        Field("a", "int"),
        Field("b", "string"),
        Field("c", "decimal(10,2)"),
        Field("s", "struct<x:int,y:array<string>>"),
        Field("odd `name", "date"),
    )


def test_char_is_told_from_string(engines, schema):
    def lengths(name):
        return [
            (f.type, f.char_length)
            for f in both(engines, lambda e: e.describe(TableName(schema, name))).fields
        ]

    assert lengths("chars") == [("string", 3), ("string", None), ("string", 12)]
    assert lengths("others") == [("string", 3), ("string", None)]
    assert lengths("swapped") == [("string", None), ("string", 3)]
    both(engines, lambda e: e.schema_of("select a, a || b as c from metadata.chars"))


def test_names_of_fields_that_make_a_text_unclear(engines, schema):
    """Calls know the structure. DESCRIBE prints no backticks, so over SQL the type is unknown."""
    sql = "select named_struct('a:b', 1, 'geo', 'x') as s, named_struct('first name', 1) as t"
    calls, by_sql = ([field.type for field in engine.schema_of(sql)] for engine in engines)
    assert calls == ["struct<`a:b`:int,geo:string>", "struct<first name:int>"]
    assert by_sql == ["struct<a:b:int,geo:string>", "struct<first name:int>"]
    assert [spark_type(text).comparable for text in (*calls, *by_sql)] == [True, True, False, True]
    ticked = [engine.schema_of("select named_struct('`a`', 1) as s")[0].spark_type for engine in engines]
    assert [type_.names for type_ in ticked] == [("`a`",), ()]


def test_what_a_commit_needs_is_looked_up_beforehand(spark, schema):
    spark.sql("insert into metadata.off values (2L)")  # a version whose snapshot nobody has read
    engine, name = PlainEngine(spark), TableName(schema, "off")
    engine.describe(name)
    before = snapshot_jobs(spark)
    engine.expect_commit(name)
    end = time.monotonic() + 60
    while snapshot_jobs(spark) == before:
        assert time.monotonic() < end, "no job computed the snapshot"
        time.sleep(0.05)


def snapshot_jobs(spark):
    jobs = spark.sparkContext._jsc.sc().statusStore().jobsList(None)
    texts = [jobs.apply(i).description() for i in range(jobs.size())]
    return sum("Compute snapshot" in text.get() for text in texts if text.isDefined())


def test_names_are_found_in_any_case_and_with_the_catalog(engines, schema):
    plain = both(engines, lambda e: e.describe(TableName(schema, "off")))
    assert "delta.enableChangeDataFeed" not in plain.properties
    for name in (TableName("METADATA", "OFF"), TableName(schema, "off", "spark_catalog")):
        assert both(engines, lambda e, n=name: e.describe(n)).table_id == plain.table_id


def test_replaced_table_has_another_identity_and_goes_on_counting(engines, schema, spark):
    spark.sql("create table metadata.r using delta as select 1 as a")
    before = both(engines, lambda e: e.describe(TableName(schema, "r")))
    spark.sql("create or replace table metadata.r using delta as select 1 as a, 2 as b")
    after = both(engines, lambda e: e.describe(TableName(schema, "r")))
    assert after.table_id != before.table_id
    assert (before.version, after.version) == (0, 1)
    assert [f.name for f in after.fields] == ["a", "b"]
    spark.sql("drop table metadata.r")
    assert both(engines, lambda e: e.describe(TableName(schema, "r"))) is None


def test_view(spark, engines, schema):
    facts = both(engines, lambda e: e.describe(TableName(schema, "v")))
    assert facts.kind == "view"
    assert facts.view_text == "select a, b from metadata.d"
    assert facts.view_namespace == ("spark_catalog", "default")
    ansi = "spark.sql.ansi.enabled"
    assert facts.view_settings[ansi] == spark.conf.get(ansi)
    assert facts.fields == (Field("k", "int"), Field("other name", "string"))
    assert facts.properties["mine"] == "x"


def test_parquet_table_and_nothing(engines, schema):
    facts = both(engines, lambda e: e.describe(TableName(schema, "p")))
    assert (facts.kind, facts.provider) == ("other", "parquet")
    assert both(engines, lambda e: e.describe(TableName(schema, "missing"))) is None
    assert both(engines, lambda e: e.describe(TableName("no_schema", "missing"))) is None


def test_temporary_view(spark):
    for by_sql in (False, True):
        engine = PlainEngine(spark, by_sql=by_sql)
        engine.execute("create temporary view tv as select 1 as x")
        facts = engine.describe(TableName("", "tv"))
        assert (facts.kind, facts.temporary) == ("view", True)
        assert facts.fields == (Field("x", "int"),)


def test_commits(engines, schema, spark):
    spark.sql("create table metadata.c (a int) using delta tblproperties (delta.enableChangeDataFeed = true)")
    spark.sql("insert into metadata.c values (1), (2)")
    engines[0].set({"spark.databricks.delta.commitInfo.userMetadata": '{"x": "it\'s"}'})
    engines[0].execute("update metadata.c set a = 3 where a = 2")
    engines[0].unset(["spark.databricks.delta.commitInfo.userMetadata"])
    spark.sql("delete from metadata.c where a = 1")
    name = TableName(schema, "c")
    by_calls, by_sql = (e.commits(name, 0) for e in engines)
    assert [c.version for c in by_calls] == [1, 2, 3]
    assert [c.operation for c in by_calls] == ["WRITE", "UPDATE", "DELETE"]
    assert [c.user_metadata for c in by_calls] == [None, '{"x": "it\'s"}', None]
    assert by_calls[2].metrics["numDeletedRows"] == "1"
    for one, other in zip(by_calls, by_sql, strict=True):
        assert abs(one.timestamp_ms - other.timestamp_ms) < 5000  # entry's time; file's time
        assert (one.version, one.operation, one.metrics, one.parameters, one.user_metadata) == (
            other.version,
            other.operation,
            other.metrics,
            other.parameters,
            other.user_metadata,
        )
    assert both(engines, lambda e: e.commits(name, 3)) == []


def test_commits_leave_gaps_out(engines, schema, spark, tmp_path):
    spark.sql(
        f"create table metadata.gap (a int) using delta location '{tmp_path}/gap' "
        "tblproperties (delta.checkpointInterval = 2)"
    )
    for i in range(4):
        spark.sql(f"insert into metadata.gap values ({i})")
    for version in (0, 1, 2):
        (tmp_path / "gap" / "_delta_log" / f"{version:020}.json").unlink()
    assert [c.version for c in engines[0].commits(TableName(schema, "gap"), 0)] == [3, 4]


def test_schema_of_a_query(engines, schema):
    fields = both(
        engines,
        lambda e: e.schema_of("with x as (select * from metadata.d) select a, c * 2 as c, a from x -- end"),
    )
    assert fields == (
        Field("a", "int"),
        Field("c", "decimal(12,2)"),
        Field("a", "int"),
    )


def test_analyzed_plan_leaves_no_column_out(engines, schema):
    query = "select " + ", ".join(f"a + {i} as c{i}" for i in range(60)) + " from metadata.d"
    for engine in engines:
        plan = engine.analyzed_plan(query)
        assert plan.startswith("Project [")
        assert "AS c59" in plan
        assert "more fields" not in plan


def test_errors_carry_sparks_sentence_only(engines):
    with pytest.raises(EngineError) as error:
        engines[0].query("select * from metadata.missing")
    assert error.value.condition == "TABLE_OR_VIEW_NOT_FOUND"
    assert "UnresolvedRelation" not in str(error.value)
    with pytest.raises(EngineError) as error:
        engines[0].query("select raise_error('boom') from metadata.p")
    assert error.value.condition == "USER_RAISED_EXCEPTION"
    assert str(error.value).startswith("[USER_RAISED_EXCEPTION] boom")
    assert "\tat " not in str(error.value)


def test_files_are_found_in_a_listing(spark, schema, tmp_path):
    """A listing needs no Spark job; a query that opens each file takes half a second."""
    table = TableName(schema, "listed")
    spark.sql(
        f"create table {table} using delta location '{tmp_path}' partitioned by (p) as select 1 as id, 'a b' as p"
    )
    spark.sql(f"insert into {table} values (2, 'c'), (3, null)")
    engine = PlainEngine(spark)
    facts = engine.describe(table)
    assert engine._metadata.has_all_files(facts)
    next(tmp_path.glob("p=c/*.parquet")).unlink()
    assert not engine._metadata.has_all_files(facts)
    with pytest.raises(EngineError):
        engine.check_files(facts)


@pytest.mark.parametrize("damage", ["gone", "cut short"])
def test_files_of_deletion_vectors_are_found_in_a_listing(spark, schema, tmp_path, damage):
    table = TableName(schema, f"with_vectors_{damage.replace(' ', '_')}")
    spark.sql(
        f"create table {table} using delta location '{tmp_path}' tblproperties (delta.enableDeletionVectors = true) "
        "as select id from range(0, 1000, 1, 1)"
    )
    spark.sql(f"delete from {table} where id % 7 = 3")
    engine = PlainEngine(spark)
    facts = engine.describe(table)
    assert engine._metadata.has_all_files(facts)
    (vector,) = tmp_path.glob("*.bin")
    if damage == "gone":
        vector.unlink()
    else:
        vector.write_bytes(vector.read_bytes()[:-1])
    assert not engine._metadata.has_all_files(facts)


def test_settings_go_back_to_how_the_connection_was_opened(spark_without_ansi):
    engine = PlainEngine(spark_without_ansi)
    ansi, partitions = "spark.sql.ansi.enabled", "spark.sql.shuffle.partitions"
    default = spark_without_ansi.conf.get(partitions)
    engine.set({ansi: "true", partitions: "9"})
    assert engine.settings([ansi, partitions, "not.there"]) == {ansi: "true", partitions: "9"}
    engine.unset([ansi, partitions])
    assert engine.settings([ansi, partitions]) == {ansi: "false", partitions: default}
