"""Settings of a session on a server, read and set by SQL."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from functools import cache
from typing import Any

from dbt.adapters.sparkivm.log import logger
from dbt.adapters.sparkivm.session_defaults import DEFAULTS_OF_DELTA
from dbt.adapters.sparkivm.spark_errors import is_lost, sentence

from sparkivm.names import quoted

# We read types and plans as text, so Spark must not truncate them.
WHOLE_PLANS = {"spark.sql.debug.maxToStringFields": "1000000", "spark.sql.maxPlanStringLength": "2000000000"}


@cache
def defaults_of(server: str) -> dict[str, str | None]:
    """The defaults that this process has asked a server for; `default_by_sql` adds to them."""
    return {}


def default_by_sql(connection: Any, key: str, known: MutableMapping[str, str | None]) -> str | None:
    """The default of a setting; None if Spark has none. Asked once, then kept in `known`."""
    if key not in known:
        cursor = connection.cursor()
        cursor.execute(f"set {quoted(key)}")
        rows = cursor.fetchall() or [(key, "<undefined>")]
        known[key] = None if rows[0][1] == "<undefined>" else str(rows[0][1])
    return known[key]


def set_at_opening(connection: Any, settings: Mapping[str, str]) -> dict[str, str]:
    """SET these and our settings in a new session. Returns: those that the server accepts."""
    missing = {key: value for key, value in DEFAULTS_OF_DELTA.items() if connection.default(key) is None}
    return set_accepted(connection, {**missing, **WHOLE_PLANS, **settings})


def set_accepted(connection: Any, settings: Mapping[str, str]) -> dict[str, str]:
    """SET these. Returns: those that the server accepts."""
    accepted = {}
    for key, value in settings.items():
        try:
            connection.cursor().execute(f"set {quoted(key)}={quoted(value)}")
            accepted[key] = value
        except Exception as error:  # of any driver
            if is_lost(error):
                raise
            logger.warning(f"the server rejects the setting {key}: {sentence(error)}")
    return accepted
