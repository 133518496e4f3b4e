"""Spark's data types as values: what each type answers, and that no type text claims too much."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparkivm.engine import Field
from sparkivm.spark.data_types import SparkType, decimal_type, printed_type, spark_type
from tests.unit.random_types import LEAVES, names, nested, printed

QUESTIONS = ("comparable", "joinable", "storable", "cacheable")
# type → answers to these questions
ANSWERS = {
    "tinyint": "yes yes yes yes",
    "bigint": "yes yes yes yes",
    "double": "yes yes yes yes",
    "decimal(38,10)": "yes yes yes yes",
    "string": "yes yes yes yes",
    "binary": "yes yes yes yes",
    "boolean": "yes yes yes yes",
    "date": "yes yes yes yes",
    "timestamp": "yes yes yes yes",
    "timestamp_ntz": "yes yes yes yes",
    "char(3)": "yes yes yes yes",
    "varchar(4)": "yes yes yes yes",
    "time(6)": "yes yes no yes",
    "void": "yes no yes no",
    "variant": "no no yes no",
    "string collate UNICODE_CI": "no no yes yes",
    "string collate UTF8_BINARY_RTRIM": "no no yes yes",
    "interval": "yes no no no",
    "interval year": "yes yes no no",
    "interval year to month": "yes yes no no",
    "interval day to second": "yes yes no no",
    "map<string,int>": "yes no yes yes",
    "array<int>": "yes yes yes yes",
    "struct<>": "yes yes yes yes",
    "struct<a:int,b:array<map<string,date>>>": "yes no yes yes",
    "array<struct<v:variant>>": "no no yes no",
    "map<string,struct<i:interval day to second>>": "yes no no no",
    "struct<c:string collate UNICODE_CI,a:int>": "no no yes yes",
    "array<interval>": "yes no no no",
    # Field names that look like types.
    "array<struct<variant_id:bigint,qty:int>>": "yes yes yes yes",
    "struct<geo:string>": "yes yes yes yes",
    "struct<collate_order:string>": "yes yes yes yes",
    "struct<my collate order:string>": "yes yes yes yes",
    "struct<interval:int,void:int,variant:int,map:int>": "yes yes yes yes",
    "struct<`a:variant`:int>": "yes yes yes yes",
    "struct<`map<string,int>`:struct<`x,y``z`:date>>": "yes yes yes yes",
    # Unknown types.
    "": "no no no no",
    "geometry(4326)": "no no no no",
    "geography(any)": "no no no no",
    "udt": "no no no no",
    "int(3)": "no no no no",
    "decimal": "no no no no",
    "decimal(10,-2)": "no no no no",
    "interval fortnight": "no no no no",
    "intervals": "no no no no",
    "time(x)": "no no no no",
    "struct<a:udt,b:int>": "no no no no",
    "struct<a:b:int>": "no no no no",
    "struct<a,b:int>": "no no no no",
    "struct<:int>": "no no no no",
    "struct<a:int,... 5 more fields>": "no no no no",
    "struct<a:int": "no no no no",
    "struct<a:int>>": "no no no no",
    "array<int,int>": "no no no no",
    "map<string>": "no no no no",
    "int\n": "no no no no",
}  # fmt: skip


@pytest.mark.parametrize("text", ANSWERS)
def test_answers(text):
    found = spark_type(text)
    assert " ".join("yes" if getattr(found, question) else "no" for question in QUESTIONS) == ANSWERS[text]
    assert str(found) == text


NUMBERS = {
    "smallint": (True, False, None),
    "int": (True, False, None),
    "float": (False, True, None),
    "double": (False, True, None),
    "decimal(12,2)": (False, False, (12, 2)),
    "decimal(38,0)": (False, False, (38, 0)),
    "string": (False, False, None),
    "array<double>": (False, False, None),
    "interval day to second": (False, False, None),
}


@pytest.mark.parametrize("text", NUMBERS)
def test_kinds_of_numbers(text):
    found = spark_type(text)
    assert (found.whole, found.floating, found.decimal) == NUMBERS[text]


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("float", True),
        ("array<struct<a:int,b:map<string,double>>>", True),
        ("struct<double:int,float_price:decimal(3,1)>", False),
        ("struct<a:b:double>", True),  # unknown
        ("decimal(3,1)", False),
    ],
)
def test_floating_point_inside(text, answer):
    assert spark_type(text).holds_floating is answer


def test_char():
    assert spark_type("char(3)").char_length == 3
    assert spark_type("varchar(3)").char_length is None
    assert spark_type("struct<a:char(3)>").char_length is None
    assert str(spark_type("struct<a:char(3),b:array<varchar(4)>,char:int>").in_queries) == (
        "struct<a:string,b:array<string>,char:int>"
    )
    assert Field("c", "string", char_length=3).declared_type == spark_type("char(3)")


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("struct<start:timestamp,end:timestamp>", True),
        ("struct<start:timestamp_ntz,end:timestamp_ntz>", True),
        ("struct<start:timestamp,end:timestamp_ntz>", False),
        ("struct<start:date,end:date>", False),
        ("struct<start:timestamp,end:timestamp,n:int>", False),
        ("array<struct<start:timestamp,end:timestamp>>", False),
    ],
)
def test_spans_of_time(text, answer):
    assert spark_type(text).is_span is answer


def test_fields_of_fields():
    found = spark_type("struct<a:struct<B c:array<struct<d:date>>>,`a:b`:int>")
    assert found.field(()) is found
    assert found.field(("A", "b C")) == spark_type("array<struct<d:date>>")
    assert found.field(("a:b",)) == spark_type("int")
    assert found.field(("a", "b c", "d")) is None
    assert found.field(("x",)) is None


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("int", "int"),
        ("decimal(10,2)", "decimal(10,2)"),
        ("struct<>", "struct<>"),
        ("struct<a:int,b_2:decimal(10,2),é:date>", "struct<a:int,b_2:decimal(10,2),`é`:date>"),
        ("struct<first name:int>", "struct<`first name`:int>"),
        ("struct<a:int,event-time:timestamp,1:date>", "struct<a:int,`event-time`:timestamp,`1`:date>"),
        (
            "map<string,array<struct<x:decimal(10,2),b`c:struct<d.e:int>>>>",
            "map<string,array<struct<x:decimal(10,2),`b``c`:struct<`d.e`:int>>>>",
        ),
        ("struct<`a:b`:int,```c`:int>", "struct<`a:b`:int,```c`:int>"),
    ],
)
def test_as_cast_takes_it(text, wanted):
    assert spark_type(text).cast_text == wanted
    assert spark_type(wanted).cast_text == wanted


@pytest.mark.parametrize("text", ["struct<`a`:int>", "struct<`:variant,a`:int>", "array<struct<a`b:int>>"])
def test_where_spark_prints_a_backtick_it_is_a_part_of_a_name(text):
    assert not printed_type(text).comparable
    assert str(printed_type(text)) == f"unclear {text}"


def test_a_space_in_the_digits_of_a_decimal():
    assert spark_type("decimal(10, 2)") == decimal_type(10, 2)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("string", "string"),
        ("int", "bigint"),
        ("bigint", "decimal(20,2)"),
        ("decimal(10,2)", "decimal(18,6)"),
        ("float", "double"),
        ("date", "timestamp"),
        ("void", "string"),
        ("array<int>", "array<int>"),
    ],
)
def test_types_of_which_equal_values_are_one(one, other):
    assert spark_type(one).same_when_equal(spark_type(other))
    assert spark_type(other).same_when_equal(spark_type(one))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("string", "int"),  # '01' = 1
        ("bigint", "double"),  # 9007199254740993 = 9007199254740992.0
        ("string", "date"),
        ("boolean", "int"),
        ("timestamp", "timestamp_ntz"),  # an hour occurs twice when the clock is set back
        ("decimal(38,0)", "decimal(38,18)"),  # compared with fewer digits
        ("string", "string collate utf8_lcase"),
        ("string collate utf8_lcase", "string collate utf8_lcase"),  # 'a' = 'A'
        ("array<string collate utf8_lcase>", "array<string collate utf8_lcase>"),
        ("array<int>", "array<bigint>"),
        ("udt", "udt"),
    ],
)
def test_types_of_which_different_values_may_be_equal(one, other):
    assert not spark_type(one).same_when_equal(spark_type(other))
    assert not spark_type(other).same_when_equal(spark_type(one))


@pytest.mark.parametrize(
    ("one", "other", "answer"),
    [
        ("int", "int", True),
        ("decimal(3,1)", "decimal(4,1)", False),
        ("double", "double", False),  # 0.0 = -0.0
        ("struct<a:float>", "struct<a:float>", False),
        ("struct<float:int>", "struct<float:int>", True),
        ("string collate utf8_lcase", "string collate utf8_lcase", False),
        ("udt", "udt", False),
    ],
)
def test_types_of_which_equal_values_are_one_to_expressions(one, other, answer):
    assert spark_type(one).same_to_expressions(spark_type(other)) is answer


types = nested(st.sampled_from(LEAVES).map(spark_type), names)


@given(types)
def test_a_text_gives_the_type_that_printed_it(type_):
    assert spark_type(str(type_)) == type_
    assert spark_type(type_.cast_text) == type_


@given(types)
def test_no_name_makes_a_printed_type_answer_too_much(type_):
    found = printed_type(printed(type_))
    assert spark_type(str(found)) == found
    for question in QUESTIONS:
        assert getattr(type_, question) or not getattr(found, question), question
    assert found.holds_floating or not type_.holds_floating


@given(st.text(alphabet="abint<>(),:` 1_", max_size=30))
def test_any_text_is_a_type(text):
    assert isinstance(spark_type(text), SparkType)
