"""What a model's `sql_header` may contain, and what the fingerprint includes of it."""

import pytest

from sparkivm.engine import Engine, Field
from sparkivm.errors import ModelError
from sparkivm.marker import owner_of
from sparkivm.names import TableName
from sparkivm.reasons import Reason
from sparkivm.refresh.model.compiled_view import compile_view
from sparkivm.refresh.request import NO_HEADER, RefreshRequest
from sparkivm.refresh.session.session_settings import semantic_settings
from sparkivm.refresh.session.sql_header import read_header


@pytest.mark.parametrize(
    ("text", "statements"),
    [
        ("", ()),
        (" ;; -- nothing\n", ()),
        ("set a = 1", ("set a = 1",)),
        ("set a = 1; set b = ';' ; -- the end\n", ("set a = 1", "set b = ';'")),
        ("/* ; */ set `a b` = `c;d`;", ("set `a b` = `c;d`",)),
        ("SET TIME ZONE 'UTC';reset a.b", ("SET TIME ZONE 'UTC'", "reset a.b")),
        ("set spark.sql.ansi.enabled", ("set spark.sql.ansi.enabled",)),
    ],
)
def test_settings(text, statements):
    header = read_header("m", text)
    assert header.statements == statements
    assert header.fallback is None


@pytest.mark.parametrize(
    "text",
    [
        "create temporary function twice(x int) returns int return x * 2",
        "CREATE OR /* so */ REPLACE -- it is\n TEMP FUNCTION f AS 'org.x.F' USING JAR 'f.jar'",
        "create temporary view v as select 1 as a",
        "declare day date = (select max(day) from t)",
        "declare or replace variable day = 1",
        "set var day = 2",
        "SET VARIABLE day = 2",
        "add jar 'f.jar'",
        "drop temporary function if exists f",
    ],
)
def test_what_the_fingerprint_cannot_see(text):
    header = read_header("m", f"set a = 1; {text}; set b = 2")
    assert header.statements == ("set a = 1", text, "set b = 2")
    assert header.fallback.reason is Reason.EXPRESSION_NOT_SUPPORTED
    assert header.unseen.split()[0].lower() == text.split()[0].lower()
    assert header.unseen in str(header.fallback)


@pytest.mark.parametrize(
    "text",
    [
        "insert into t select 1",
        "with a as (select 1) select * from a",
        "use other",
        "set catalog other",
        "set/**/catalog other",
        "create function f(x int) returns int return x",
        "create global temporary view v as select 1",
        "create temporary table t as select 1",
        "create table t as select 1",
        "drop view v",
        "begin set a = 1; end",
        "setting = 1",
        "declared = 1",
    ],
)
def test_other_statements_belong_into_hooks(text):
    with pytest.raises(ModelError, match="pre_hook") as error:
        read_header("sales", f"set a = 1;\n  {text}")
    assert "incremental_view sales" in str(error.value)
    assert "line 2, column 3" in str(error.value)


def test_a_quote_that_is_left_open():
    with pytest.raises(ModelError, match="cannot be divided into statements"):
        read_header("sales", "set a = it's")


class Session(Engine):
    def settings(self, names):
        return {"spark.sql.session.timeZone": "UTC"}

    def schema_of(self, sql):
        return (Field("a", "int"),)


def test_the_header_decides_as_a_setting_does():
    session = Session()
    one, other = (semantic_settings(session, read_header("m", text)) for text in ("set a = 1", "set a = 2;"))
    assert one != other
    assert one == semantic_settings(session, read_header("m", "set a = 1 ; -- again"))
    assert semantic_settings(session, NO_HEADER) == {"spark.sql.session.timeZone": "UTC"}


def test_a_view_over_what_is_not_seen_has_no_plan():
    """So each run computes it, even if its sources have not changed."""
    header = read_header("m", "declare day date = (select max(day) from t)")
    name = TableName("s", "m")
    request = RefreshRequest(name, "select day as a", owner_of("p", "model.p.m", name), header=header)
    view = compile_view(Session(), None, request)
    assert (view.plan, view.fallback, view.complete) == (None, header.fallback, False)
    assert [field.name for field in view.fields] == ["a"]
