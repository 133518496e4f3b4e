"""Settings under which Spark reads changes.

Adaptive execution plans a query again after each stage. Each time, Delta lists the files of every remaining
table by a Spark job. For a small change this takes longer than the stages: 3.3 s instead of 2.2 s for a
statement of 31 jobs. So it is off, and there are few partitions, unless much is read.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from types import MappingProxyType

from sparkivm.engine import Engine, session_with

OF_EACH_STATEMENT = {
    # Versions older than seven days may be read while their files exist; later, the read fails.
    "spark.databricks.delta.vacuum.enforceTimeTravelWithinDeletedFileRetentionDuration": "false",
    # Spark 4.1 may return wrong rows for UNION ALL of inputs partitioned alike, if it reuses an exchange.
    # Spark 4.0 never takes such a union for partitioned.
    "spark.sql.unionOutputPartitioning": "false",
    # Spark keeps a maximum per cached batch and ignores NaN in it, so a filter such as `d > 5` skips batches
    # whose only match is NaN.
    "spark.sql.inMemoryColumnarStorage.partitionPruning": "false",
}

_MUCH_READ_BYTES = 8 << 30
_BYTES_PER_PARTITION = 256 << 20  # bytes read; only changes and their matches are exchanged
_FEWEST_PARTITIONS = 2


@contextmanager
def planned_for_changes(
    engine: Engine, read_bytes: float, others: Mapping[str, str] = MappingProxyType({})
) -> Generator[None, None, None]:
    """Settings for statements that read so many bytes of tables, with `others` set too."""
    settings = {**OF_EACH_STATEMENT, **others}
    if read_bytes <= _MUCH_READ_BYTES:
        partitions = max(_FEWEST_PARTITIONS, math.ceil(read_bytes / _BYTES_PER_PARTITION))
        settings["spark.sql.adaptive.enabled"] = "false"
        settings["spark.sql.shuffle.partitions"] = str(partitions)
    with session_with(engine, settings):
        yield
