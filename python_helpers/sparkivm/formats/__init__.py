"""The formats of tables that have versions, by the kind of a relation."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from sparkivm.engine import RelationFacts
from sparkivm.formats.delta import DELTA
from sparkivm.formats.iceberg import ICEBERG
from sparkivm.formats.table_format import TableFormat

FORMATS: Mapping[str, TableFormat] = MappingProxyType({"delta": DELTA, "iceberg": ICEBERG})


def format_of(table: RelationFacts) -> TableFormat:
    """The format of a table that has versions."""
    return FORMATS[table.kind]
