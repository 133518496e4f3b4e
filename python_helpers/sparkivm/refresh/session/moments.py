"""The date and time of a run: all of its views use one instant."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta, timezone

from sparkivm.algebra.moment import MOMENTS
from sparkivm.engine import Engine
from sparkivm.names import literal

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def moments_at(engine: Engine, instant: int) -> Mapping[str, str]:
    """Literals of all moments at an instant, by their keys, in the session's time zone.

    instant  microseconds since 1970
    """
    (row,) = engine.query(
        f"select cast(cast(timestamp_micros({instant}) as date) as string) as today,"
        f" cast(cast(timestamp_micros({instant}) as timestamp_ntz) as string) as local"
    )
    utc = (_EPOCH + timedelta(microseconds=instant)).strftime("%Y-%m-%d %H:%M:%S.%f")
    return {
        MOMENTS["current_date"]: f"date {literal(row['today'])}",
        MOMENTS["current_timestamp"]: f"timestamp {literal(utc + 'Z')}",
        MOMENTS["localtimestamp"]: f"timestamp_ntz {literal(row['local'])}",
    }


def now(engine: Engine) -> int:
    """Microseconds since 1970, by Spark's clock."""
    (row,) = engine.query("select unix_micros(current_timestamp()) as now")
    return int(row["now"])
