"""A table is made with what Delta asks for, and with a change feed whatever its columns are called."""

from __future__ import annotations

import pytest

from sparkivm.engine import EngineError
from sparkivm.refresh.stored.new_table import make_table

FEED = {"delta.enableChangeDataFeed": "true"}
MAPPED = {"delta.columnMapping.mode": "name"}
DEFAULTS = {"delta.feature.allowColumnDefaults": "supported"}


class Delta:
    """Refuses with these conditions, one after the other; notes what it is given."""

    def __init__(self, *conditions: str) -> None:
        self.conditions, self.given, self.fed = list(conditions), [], False

    def make(self, properties):
        self.given.append(dict(properties))
        if self.conditions:
            raise EngineError("refused", self.conditions.pop(0))
        return "made"

    def feed(self):
        self.fed = True


@pytest.mark.parametrize(
    ("properties", "conditions", "given", "fed"),
    [
        (FEED, (), FEED, False),
        (FEED | MAPPED, (), MAPPED, True),
        (FEED | {"delta.columnmapping.mode": "id"}, (), {"delta.columnmapping.mode": "id"}, True),
        (FEED | {"delta.columnMapping.mode": "none"}, (), FEED | {"delta.columnMapping.mode": "none"}, False),
        ({"delta.enableChangeDataFeed": "false"} | MAPPED, (), {"delta.enableChangeDataFeed": "false"} | MAPPED, False),
        (FEED, ("DELTA_INVALID_CHARACTERS_IN_COLUMN_NAMES",), MAPPED, True),
        (FEED, ("WRONG_COLUMN_DEFAULTS_FOR_DELTA_FEATURE_NOT_ENABLED",), FEED | DEFAULTS, False),
        (
            FEED,
            ("WRONG_COLUMN_DEFAULTS_FOR_DELTA_FEATURE_NOT_ENABLED", "DELTA_INVALID_CHARACTERS_IN_COLUMN_NAMES"),
            MAPPED | DEFAULTS,
            True,
        ),
    ],
)  # fmt: skip
def test_properties_that_it_is_made_with(properties, conditions, given, fed):
    delta = Delta(*conditions)
    assert make_table(properties, delta.make, delta.feed) == "made"
    assert (delta.given[-1], delta.fed) == (given, fed)
    assert len(delta.given) == len(conditions) + 1


@pytest.mark.parametrize("conditions", [("OTHER",), ("DELTA_INVALID_CHARACTERS_IN_COLUMN_NAMES",) * 2])
def test_what_delta_refuses_for_good(conditions):
    delta = Delta(*conditions)
    with pytest.raises(EngineError):
        make_table(FEED, delta.make, delta.feed)
    assert len(delta.given) == len(conditions)
    assert not delta.fed
