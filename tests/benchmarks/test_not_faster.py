"""One sentence that explains why a view is not faster."""

import pytest

from benchmarks.dbt_runner import NodeRun
from benchmarks.not_faster import not_faster


@pytest.mark.parametrize(
    ("response", "rebuild_s", "sentence"),
    [
        (
            {"mode": "full", "reason": "CHEAPER_IN_FULL", "reason_text": "CHEAPER_IN_FULL: estimated 9 s against 4 s"},
            4,
            "it was rebuilt too, because a rebuild costs less than applying the changes (estimated 9 s against 4 s).",
        ),
        (
            {"mode": "full", "reason": "CHEAPER_IN_FULL"},
            4,
            "it was rebuilt too, because a rebuild costs less than applying the changes.",
        ),
        ({"mode": "full"}, 4, "its model requests a rebuild."),
        ({"mode": "incremental", "apply_form": "recompute"}, 1, "its tables are small, so it was computed again as a whole"),
        (
            {"mode": "incremental", "apply_form": "merge", "rows_updated": 7000},
            9.5,
            "a rebuild takes only 9.5 s. The refresh reads the changes, computes the delta and applies ~7,000 rows by MERGE.",
        ),
    ],
)  # fmt: skip
def test_sentence(response, rebuild_s, sentence):
    found = not_faster(NodeRun("v", 10, None, "", response), NodeRun("v", rebuild_s, None))
    assert found.startswith(sentence)
    assert found.endswith(".")
