"""The dbt project that a subcommand works on, without a run of dbt: selections."""

from __future__ import annotations

import pytest
from dbt.adapters.sparkivm.command.project import VIEWS, views_of


@pytest.mark.parametrize(
    ("select", "parts"),
    [
        (["a"], ["a"]),
        (["a", "b"], ["a", "b"]),
        (["a b", "+c,tag:d"], ["a", "b", "+c,tag:d"]),
        (["a  b"], ["a", "", "b"]),
        ([""], [""]),
    ],
)
def test_each_part_of_a_selection_is_limited_to_views(select, parts):
    """The parts are those that dbt makes of it: an empty one selects nothing."""
    assert views_of(select) == [f"{part},{VIEWS}" for part in parts]
