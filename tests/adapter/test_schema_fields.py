"""Columns from a schema's JSON, which shows the structure of types for any field names."""

from __future__ import annotations

import json

from dbt.adapters.sparkivm.session_catalog import _fields

from sparkivm.engine import Field


def _column(name, type_, nullable=True, **metadata):
    return {"name": name, "type": type_, "nullable": nullable, "metadata": metadata}


def _struct(*columns):
    return {"type": "struct", "fields": list(columns)}


def _array(element):
    return {"type": "array", "elementType": element, "containsNull": True}


def test_columns_of_a_schema():
    collated = {"__COLLATIONS": {"c": "icu.UNICODE_CI"}}
    declared = {"__CHAR_VARCHAR_TYPE_STRING": "char(3)"}
    inner = _struct(_column("a:b", "integer", False, comment="it's"), _column("variant_id", "long"))
    mapped = {"type": "map", "keyType": "string", "valueType": inner, "valueContainsNull": False}
    schema = _struct(
        _column("k", "long", False),
        _column("c", "string", **collated),
        _column("d", "decimal(10,2)"),
        _column("p", "string", **declared),
        _column("s", _struct(_column("x,y", _array(mapped)), _column("first name", "char(2)"))),
        _column("g", _struct(_column("at", "geometry(SRID:0)"), _column("`t`", "date"))),
        _column("i", "interval day to second"),
    )
    fields = _fields(json.dumps(schema))
    assert fields == (
        Field("k", "bigint"),
        Field("c", "string collate UNICODE_CI"),
        Field("d", "decimal(10,2)"),
        Field("p", "string", char_length=3),
        Field("s", "struct<`x,y`:array<map<string,struct<`a:b`:int,variant_id:bigint>>>,first name:string>"),
        Field("g", "struct<at:geometry(0),```t```:date>"),
        Field("i", "interval day to second"),
    )
    assert [field.spark_type.comparable for field in fields] == [True, False, True, True, True, False, True]
