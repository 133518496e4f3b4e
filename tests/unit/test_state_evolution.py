"""The content of a state, with other names for its tables."""

from __future__ import annotations

from sparkivm.plan.state_evolution import content_of
from tests.golden.compiled import compiled, new_engine


def test_tables_may_have_other_names():
    plan = compiled(
        new_engine(), "select n_name, r_name from nation join region on n_regionkey = r_regionkey"
    )
    names = plan.state.names
    assert content_of(plan, names).tables == {"tpch.nation", "tpch.region"}
    assert content_of(plan, names, {"tpch.nation": "ci.nation"}).tables == {"ci.nation", "tpch.region"}
    assert content_of(plan, names[::-1]).columns == names[::-1]
