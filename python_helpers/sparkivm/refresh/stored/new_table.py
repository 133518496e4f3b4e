"""A table of ours, made or replaced: what its columns need of Delta is learned from Delta's refusal.

source  Delta 4.4 takes names with blanks and signs only with column mapping, and a column that has a DEFAULT
        in its source only with a feature. No statement makes a table with column mapping and a change data
        feed (DELTA_BLOCK_COLUMN_MAPPING_AND_CDC_OPERATION), so a second one switches the feed on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from sparkivm.engine import EngineError
from sparkivm.formats.delta import CHANGE_FEED

Done = TypeVar("Done")

_COLUMN_MAPPING = "delta.columnMapping.mode"
_NEEDED = {
    "DELTA_INVALID_CHARACTERS_IN_COLUMN_NAMES": {_COLUMN_MAPPING: "name"},
    "WRONG_COLUMN_DEFAULTS_FOR_DELTA_FEATURE_NOT_ENABLED": {"delta.feature.allowColumnDefaults": "supported"},
}


def make_table(
    properties: Mapping[str, str],
    make: Callable[[Mapping[str, str]], Done],
    switch_on_feed: Callable[[], object],
) -> Done:
    """What `make` returns, given the properties that one statement can set.

    properties      those that the table should have
    switch_on_feed  called afterwards where the feed could not be one of them
    Raises: EngineError, and what `make` raises.
    """
    wanted = dict(properties)
    while True:
        at_once = _without_feed(wanted) if _maps_columns(wanted) else wanted
        try:
            done = make(at_once)
        except EngineError as error:
            needed = _NEEDED.get(error.condition, {})
            if needed.items() <= wanted.items():
                raise
            wanted |= needed
        else:
            if len(at_once) < len(wanted):
                switch_on_feed()
            return done


def _maps_columns(properties: Mapping[str, str]) -> bool:
    modes = [mode for name, mode in properties.items() if name.lower() == _COLUMN_MAPPING.lower()]
    return any(mode.lower() != "none" for mode in modes)


def _without_feed(properties: Mapping[str, str]) -> dict[str, str]:
    return {
        name: value
        for name, value in properties.items()
        if not (name == CHANGE_FEED and value.lower() == "true")
    }
