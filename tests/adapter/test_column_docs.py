"""Which descriptions become comments, and of which columns a run says that the view does not have them."""

from dbt.adapters.sparkivm.column_docs import ColumnDocs

PROPERTIES = {
    "ID": {"name": "ID", "description": "The id.", "quote": None},
    "Name": {"name": "Name", "description": "The name.", "quote": True},
    "gone": {"name": "gone"},
}


def test_case_does_not_matter_unless_the_name_is_quoted():
    docs = ColumnDocs.of(PROPERTIES)
    assert docs.comments(["id", "name", "x"]) == {"id": "The id.", "name": "", "x": ""}
    assert docs.comments(["Id", "Name"]) == {"Id": "The id.", "Name": "The name."}


def test_what_the_view_does_not_have():
    docs = ColumnDocs.of(PROPERTIES)
    assert docs.missing(["id", "name", "x"]) == ["Name", "gone"]
    assert docs.missing(["iD", "Name", "GONE"]) == []
