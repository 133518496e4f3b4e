"""Our data types compared with Spark's: the structure that its parser reads, and what it does with each."""

from __future__ import annotations

import json

import pytest
from dbt.adapters.sparkivm.session_catalog import _type
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.errors import PySparkException
from pyspark.sql.types import StructType

from sparkivm.spark.data_types import SparkType, spark_type
from tests.unit.random_types import LEAVES, names, nested, printed

pytestmark = pytest.mark.spark

# What Spark and Delta allow for each: group by it, compare by =, store it.
SAME_ANSWERS = (
    "int",
    "decimal(38,10)",
    "string",
    "variant",
    "interval",
    "interval year to month",
    "interval day to second",
    "map<string,int>",
    "array<struct<variant_id:bigint,qty:int>>",
    "array<struct<v:variant>>",
    "struct<geo:string,m:map<int,int>>",
    "struct<a:array<interval>>",
)


@pytest.fixture(scope="module")
def parser(spark):
    return spark._jvm.org.apache.spark.sql.types.DataType.fromDDL


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(type_=nested(st.sampled_from(LEAVES).map(spark_type), names))
def test_the_structure_is_that_of_spark(parser, type_):
    """Both ways: our text as Spark parses it, read back from the schema's JSON; and Spark's own text of it."""
    found = parser(SparkType("struct", parts=(type_,), names=("c",)).cast_text)
    schema = StructType.fromJson(json.loads(found.json()))
    assert _type(schema.fields[0].dataType) == type_
    assert found.apply(0).dataType().simpleString() == printed(type_)


@pytest.mark.parametrize("text", SAME_ANSWERS)
def test_answers_are_those_of_spark(spark, text):
    spark.sql(f"create or replace temporary view of_type as select cast(null as {text}) as c")
    type_ = spark_type(text)
    assert type_.comparable == succeeds(spark, "select c, count(*) from of_type group by c")
    assert type_.joinable == succeeds(spark, "select a.c from of_type a join of_type b on a.c = b.c")
    stored = succeeds(spark, "create table of_type_stored using delta as select * from of_type")
    spark.sql("drop table if exists of_type_stored")
    assert type_.storable == stored


@pytest.mark.parametrize("text", [text for text in SAME_ANSWERS if spark_type(text).cacheable])
def test_rows_that_are_kept_in_memory(spark, text):
    frame = spark.sql(f"select cast(null as {text}) as c").cache()
    assert frame.count() == 1
    frame.unpersist()


def succeeds(spark, sql):
    try:
        spark.sql(sql)
    except PySparkException:
        return False
    return True
