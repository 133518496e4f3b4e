"""What is refused before anything is read from the text."""

import pytest
import sqlglot.parser

from sparkivm.errors import ModelError, NotIncremental
from sparkivm.frontend.parse import not_too_deep, parse_model, statement_text
from tests.reading import read


def test_the_compiled_build_of_sqlglot_is_refused_by_name(monkeypatch):
    parse_model("m", "select 1 as a")
    monkeypatch.setattr(sqlglot.parser, "__file__", "sqlglot/parser.cpython-311-x86_64-linux-gnu.so")
    with pytest.raises(ModelError, match="compiled build") as refused:
        parse_model("m", "select 1 as a")
    assert "pip uninstall sqlglotc" in str(refused.value)


def test_a_query_that_is_nested_too_deeply():
    sql = "r"
    for number in range(400):
        sql = f"(select k, max(a) as a from {sql} as q{number} group by k)"
    with pytest.raises(NotIncremental, match="nested too deeply"), not_too_deep():
        read(f"select k, a from {sql}")


@pytest.mark.parametrize(
    "comments",
    ["/* a * b */ " * 40, "/* a /* b */ c */", "-- a\n" * 400, "/*" + "*/ /*" * 40 + "*/", " " * 10_000],
)
def test_a_statement_between_comments(comments):
    """However many of them stand where, its ends are found at once."""
    sql = f"select 1 {comments} as a"
    assert statement_text("model", f"\ufeff{comments}{sql} {comments};{comments}") == sql
    with pytest.raises(ModelError, match="no SELECT"):
        statement_text("model", comments)
