"""Source columns with names that our statements use: the statements choose other names and nothing clashes."""

from __future__ import annotations

import pytest
import sqlglot

from sparkivm.engine import Field, RelationFacts
from sparkivm.formats.refresh_texts import PinnedTable, RefreshTexts, changed_rows
from sparkivm.formats.source_change import SourceChange
from sparkivm.frontend.scope import NameAllocator
from sparkivm.names import TableName, in_changes
from sparkivm.refresh.changed_rows.few_changes import _texts
from tests.fuzz.embedded import Catalog
from tests.reading import read

FIELDS = ("k", "__ivm_w", "__IVM_W2", "__ivm_of_source_w", "__ivm_step_weight")
TABLE = TableName("s", "t")
FACTS = RelationFacts(TABLE, "delta", (), version=5)
CATALOG = Catalog({"t": tuple(Field(name, "int") for name in FIELDS)})


def test_other_names_beside_weights():
    inside = [in_changes(name).lower() for name in FIELDS]
    assert inside[0] == "k"
    assert len(set(inside)) == len(FIELDS)
    assert not {name.lower() for name in FIELDS[1:]} & {*inside} - {"__ivm_of_source_w"}
    assert in_changes("__ivm_w") == "__ivm_of_source_w"
    assert in_changes("__ivm_of_source_w") == "__ivm_of_source_of_source_w"


@pytest.mark.parametrize("how", ["feed", "diff"])
@pytest.mark.parametrize("nets", [False, True])
@pytest.mark.parametrize("kept", ["", "global_temp.kept"])
def test_texts_of_changes(how, nets, kept):
    change = SourceChange(how, 3, 5, 7, nets=nets, kept=kept, conflated=(Field("__ivm_w", "double"),))
    texts = [
        RefreshTexts({"t": PinnedTable(FACTS, change)}).changes("t", FIELDS),
        changed_rows(FACTS, change, FIELDS),
    ]
    for text in texts:
        names = [name.lower() for name in sqlglot.parse_one(text, dialect="spark").named_selects]
        assert names == [*(in_changes(field).lower() for field in FIELDS), "__ivm_w"]


def test_few_changes_are_read_by_these_names():
    assert _texts(CATALOG.tables["t"]) == {
        name: f"coalesce(cast(`{in_changes(name)}` as string), 'null')" for name in FIELDS
    }


@pytest.mark.parametrize("name", ["__ivm_w", "__IVM_w", "__ivm___Ivm_w", "w"])
def test_columns_of_a_plan_have_no_such_names(name):
    assert NameAllocator().fresh(name) == "w"


def test_a_column_needs_a_name():
    assert NameAllocator().fresh("__ivm_") == "column"


@pytest.mark.parametrize("name", ["__ivm_expression_1", "__ivm_alias_a", "__ivm_each_x", "__ivm_one"])
def test_names_that_the_compiler_gives_while_it_reads(name):
    catalog = Catalog({"t": (Field("a", "int"), Field(name, "int")), "u": (Field("a", "int"),)})
    assert len(read("select t.a, u.a from t natural join u", catalog).root.children) == 1
    having = read(
        "select sum(a) as a, max(`k`) as k from (select a, 1 as k from t) group by k having a > 3", catalog
    )
    assert "sum" in str(having.root).lower()
    assert read(f"select transform(array(1), x -> x + `{name}`) as v from t", catalog).output == ("v",)
