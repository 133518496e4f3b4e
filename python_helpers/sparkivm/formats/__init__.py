"""The formats of tables with versions, by the kind of relation, for sources and for states."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from sparkivm.engine import RelationFacts
from sparkivm.formats.delta import DELTA
from sparkivm.formats.delta_states import DELTA_STATES
from sparkivm.formats.iceberg import ICEBERG
from sparkivm.formats.iceberg_states import ICEBERG_STATES
from sparkivm.formats.state_format import StateFormat
from sparkivm.formats.table_format import TableFormat

FORMATS: Mapping[str, TableFormat] = MappingProxyType({"delta": DELTA, "iceberg": ICEBERG})

STATE_FORMATS: Mapping[str, StateFormat] = MappingProxyType(
    {"delta": DELTA_STATES, "iceberg": ICEBERG_STATES}
)
DEFAULT_FORMAT = "delta"


def format_of(table: RelationFacts) -> TableFormat:
    """The format of a table that has versions."""
    return FORMATS[table.kind]
