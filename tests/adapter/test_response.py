"""The status line on the console and run_results.json."""

import pytest
from dbt.adapters.sparkivm.response import RefreshResponse

from sparkivm.names import TableName, state_table
from sparkivm.reasons import Fallback, Reason
from sparkivm.refresh.result import RefreshResult, SourceVersions

VIEW = TableName("shop", "sales")


def result(mode, **particulars):
    return RefreshResult(mode=mode, view=VIEW, state=state_table(VIEW), **particulars)


@pytest.mark.parametrize(
    ("done", "status"),
    [
        (result("no_op"), "NO_OP"),
        (result("create"), "CREATE"),
        (
            result("create", fallback=Fallback(Reason.SOURCE_NOT_SUPPORTED)),
            "CREATE SOURCE_NOT_SUPPORTED: changes of a source cannot be read, and it has no mirror",
        ),
        (
            result("full", fallback=Fallback(Reason.QUERY_CHANGED)),
            "FULL QUERY_CHANGED: the SQL of the model, or of a view that it reads, changed",
        ),
        (
            result(
                "incremental",
                rows_inserted=3,
                rows_deleted=1,
                rows_updated=2,
                sources=(SourceVersions("a", 1, 2), SourceVersions("b", 4, 4)),
            ),
            "INCREMENTAL +3 -1 ~2, 1 of 2 sources changed",
        ),
    ],
)
def test_status(done, status):
    assert str(RefreshResponse.of(done)) == status


def test_status_is_one_line_without_quotes():
    done = result("full", fallback=Fallback(Reason.REFRESH_FAILED, 'a "b" `c`\n\\d'))
    assert str(RefreshResponse.of(done)) == "FULL REFRESH_FAILED: a b c d"


def test_run_results_are_flat():
    done = result(
        "incremental", rows_inserted=3, sources=(SourceVersions("a", None, 2),), strategies={"Join": "linear"}
    )
    written = RefreshResponse.of(done).to_dict()
    assert written["rows_affected"] == 3
    assert written["sources"] == '[{"name": "a", "from_version": null, "to_version": 2}]'
    assert all(isinstance(value, (str, int, float, type(None))) for value in written.values())
