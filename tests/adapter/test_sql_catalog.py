"""The statements that ask a thrift server about its session, and how their answers are read."""

from __future__ import annotations

import pytest
from dbt.adapters.sparkivm.sql_catalog import SqlCatalog, _mapping

from sparkivm.engine import EngineError, Field, Row
from sparkivm.names import TableName


class Server:
    """Has the variable x, the user functions f and upper, and lower; cannot parse `nonsense`."""

    def __init__(self) -> None:
        self.ran: list[str] = []

    def query(self, sql: str) -> list[Row]:
        self.ran.append(sql)
        if sql == "describe query\nselect 1 as a, 'x' as b":
            return [{"col_name": "a", "data_type": "int"}, {"col_name": "b", "data_type": "string"}]
        if sql.startswith("describe function "):
            return self._function(sql.removeprefix("describe function ").strip("`"))
        if "nonsense" in sql:
            raise EngineError(
                "[PARSE_SYNTAX_ERROR] at or near 'nonsense'. (line 3, pos 7)", "PARSE_SYNTAX_ERROR", 1
            )
        if "system.session" in sql:
            if sql.endswith("`x`"):
                return [{"col_name": "x", "data_type": "int"}]
            raise EngineError(
                "[UNRESOLVED_COLUMN.WITHOUT_SUGGESTION] no", "UNRESOLVED_COLUMN.WITHOUT_SUGGESTION"
            )
        if "current_catalog" in sql:
            return [{"catalog": "other", "name": "a.`b.c`"}]
        raise AssertionError(sql)

    @staticmethod
    def _function(name: str) -> list[Row]:
        if name == "lower":
            return [
                {"function_desc": "Function: lower"},
                {"function_desc": "Class: org.apache.spark.sql.catalyst.expressions.Lower"},
            ]
        if name in ("f", "upper"):
            return [{"function_desc": f"Function: {name}"}, {"function_desc": "Type: SCALAR"}]
        raise EngineError("[ROUTINE_NOT_FOUND] no", "ROUTINE_NOT_FOUND")


@pytest.fixture
def server():
    return Server()


@pytest.fixture
def catalog(server):
    return SqlCatalog(server.query, server.query)


def test_functions_of_users(catalog):
    """A name that is not a function is not foreign; a name with a schema is."""
    assert catalog.foreign_functions(["f", "upper", "lower", "q", ".lower"]) == {"f", "upper", ".lower"}


def test_variables(catalog):
    assert catalog.variables(["X".lower(), "y"]) == {"x"}


def test_the_current_catalog_and_schema(catalog):
    assert catalog.namespace() == ("other", "a", "b.c")


@pytest.mark.parametrize("ask", ["check_query", "schema_of", "analyzed_plan"])
def test_a_text_is_described_before_anything_else_is_done_with_it(server, catalog, ask):
    with pytest.raises(EngineError) as refused:
        getattr(catalog, ask)("select nonsense")
    assert refused.value.position == (1, 8)  # below a comment and DESCRIBE QUERY
    assert server.ran == ["describe query\nselect nonsense"]


def test_the_columns_of_a_query_are_one_statement(server, catalog):
    assert catalog.schema_of("select 1 as a, 'x' as b") == (Field("a", "int"), Field("b", "string"))
    assert len(server.ran) == 1


@pytest.mark.parametrize(("type_", "statements"), [("VIEW", 3), ("MANAGED", 1)])
def test_a_relation_is_described_although_spark_cannot_read_it(type_, statements):
    """A plain view over a table that is gone, and a table without its files."""
    ran = []

    def query(sql: str) -> list[Row]:
        ran.append(sql)
        if sql.endswith(" as json"):
            return [{"json_metadata": '{"view_creation_spark_configuration": {"a": "1"}}'}]
        if sql.startswith("show tblproperties"):
            return []
        assert sql.startswith("describe table extended")
        facts = [("# Detailed Table Information", ""), ("Type", type_), ("View Text", "select * from gone")]
        return [{"col_name": name, "data_type": text} for name, text in (("a", "char(3)"), ("", ""), *facts)]

    found = SqlCatalog(query).describe(TableName("s", "t"))
    assert found.fields == (Field("a", "string", char_length=3),)
    assert found.kind == ("view" if type_ == "VIEW" else "other")
    assert len(ran) == statements


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('{"sparkivm.view":"s.v","quality-level":"gold","x":"y"}', {"sparkivm.view": "s.v", "quality-level": "gold", "x": "y"}),
        ('{"delta.enableChangeDataFeed":"true","my key":""}', {"delta.enableChangeDataFeed": "true", "my key": ""}),
        ('{"predicate":"["(k = \'a\')"]"}', {"predicate": '["(k = \'a\')"]'}),
        ("{}", {}),
        (None, {}),
        ({"a": 1, "b": None}, {"a": "1"}),
    ],
)  # fmt: skip
def test_maps_as_a_thrift_server_prints_them(text, found):
    assert _mapping(text) == found
