"""What is refused before anything is read from the text."""

import pytest
import sqlglot.parser

from sparkivm.errors import ModelError
from sparkivm.frontend.parse import parse_model


def test_the_compiled_build_of_sqlglot_is_refused_by_name(monkeypatch):
    parse_model("m", "select 1 as a")
    monkeypatch.setattr(sqlglot.parser, "__file__", "sqlglot/parser.cpython-311-x86_64-linux-gnu.so")
    with pytest.raises(ModelError, match="compiled build") as refused:
        parse_model("m", "select 1 as a")
    assert "pip uninstall sqlglotc" in str(refused.value)
