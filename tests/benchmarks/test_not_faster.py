"""Why a view is not faster, in a sentence."""

import pytest

from benchmarks.dbt_runner import NodeRun
from benchmarks.not_faster import not_faster


@pytest.mark.parametrize(
    ("response", "rebuild_s", "sentence"),
    [
        (
            {"mode": "full", "reason_text": "CHEAPER_IN_FULL: 9 s against 4 s"},
            4,
            "it was rebuilt as well, CHEAPER_IN_FULL: 9 s against 4 s.",
        ),
        ({"mode": "incremental", "apply_form": "recompute"}, 1, "its tables are so small that"),
        (
            {"mode": "incremental", "apply_form": "merge", "rows_updated": 7000},
            9.5,
            "a rebuild takes only 9.5 s, and a refresh asks what changed, computes that, applies it (merge, ~7,000 rows)",
        ),
    ],
)
def test_sentence(response, rebuild_s, sentence):
    found = not_faster(NodeRun("v", 10, None, "", response), NodeRun("v", rebuild_s, None))
    assert found.startswith(sentence)
    assert found.endswith(".")
