"""A table of ours, made or replaced: what its columns need of Delta is learned from Delta's refusal.

source  Delta 4.4 takes names with blanks and signs only with column mapping, and a column that has a DEFAULT
        in its source only with a feature. No statement makes a table with column mapping and a change data
        feed (DELTA_BLOCK_COLUMN_MAPPING_AND_CDC_OPERATION), so a second one switches the feed on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TypeVar

from sparkivm.changes.source_change import CHANGE_FEED
from sparkivm.engine import EngineError

Done = TypeVar("Done")

_COLUMN_MAPPING = "delta.columnMapping.mode"
_NOTHING: Mapping[str, str] = MappingProxyType({})
_NEEDED = {
    "DELTA_INVALID_CHARACTERS_IN_COLUMN_NAMES": {_COLUMN_MAPPING: "name"},
    "WRONG_COLUMN_DEFAULTS_FOR_DELTA_FEATURE_NOT_ENABLED": {"delta.feature.allowColumnDefaults": "supported"},
}


def make_table(
    properties: Mapping[str, str],
    make: Callable[[Mapping[str, str]], Done],
    switch_on_feed: Callable[[], object],
) -> Done:
    """What `make` returns, given those properties that one statement can set.

    properties      those that the table should have
    switch_on_feed  called afterwards, if the feed is not among the properties given
    Raises: EngineError, and what `make` raises.
    """
    wanted = dict(properties)
    while True:
        mapped = any(
            name.lower() == _COLUMN_MAPPING.lower() and mode != "none" for name, mode in wanted.items()
        )
        at_once = {name: value for name, value in wanted.items() if not (mapped and name == CHANGE_FEED)}
        try:
            done = make(at_once)
        except EngineError as error:
            needed = _NEEDED.get(error.condition, _NOTHING)
            if needed.items() <= wanted.items():
                raise
            wanted |= needed
        else:
            if wanted.get(CHANGE_FEED) != at_once.get(CHANGE_FEED):
                switch_on_feed()
            return done
