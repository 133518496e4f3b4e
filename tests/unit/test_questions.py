"""How questions about changed rows read them."""

from __future__ import annotations

import pytest

from sparkivm.engine import Field, RelationFacts
from sparkivm.formats.delta import CHANGE_FEED
from sparkivm.formats.source_change import SourceChange
from sparkivm.names import TableName
from sparkivm.refresh.changed_rows.questions import ChangedSources
from sparkivm.refresh.changed_rows.run_memory import Memory
from tests.refresh.lab import Lab

FACTS = RelationFacts(
    TableName("s", "t"),
    "delta",
    (Field("k", "int"), Field("x", "int")),
    table_id="id",
    version=2,
    properties={CHANGE_FEED: "true"},
)


@pytest.mark.parametrize("nets", [True, False])
@pytest.mark.parametrize("netted", [True, False])
def test_changes_are_consolidated_only_for_questions_about_net_changes(netted, nets):
    """In the key alone, an update of another column would cancel out: its key would not be looked up."""
    change = SourceChange("feed", 1, 2, rows=3, nets=nets)
    sources = ChangedSources(Lab().engine, {"s.t": FACTS}, {"s.t": change}, Memory(), {"s.t": ["k"]})
    text = sources.texts(["s.t"], netted=netted).changes("s.t", ["k"])
    assert ("having sum(" in text) == (netted and nets)
