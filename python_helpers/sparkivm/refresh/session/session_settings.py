"""Session settings that decide what a query means: a view computed under others has to be computed again."""

from __future__ import annotations

from collections.abc import Mapping

from sparkivm.engine import Engine
from sparkivm.errors import ModelError, NotIncremental
from sparkivm.reasons import Fallback, Reason
from sparkivm.refresh.request import NO_HEADER, SqlHeader

# What the compiler takes for granted: Spark's defaults.
_TAKEN_FOR_GRANTED = {
    "spark.sql.caseSensitive": "false",
    "spark.sql.groupByOrdinal": "true",
    "spark.sql.groupByAliases": "true",
    "spark.sql.legacy.setopsPrecedence.enabled": "false",
    "spark.sql.legacy.parser.havingWithoutGroupByAsWhere": "false",
    "spark.sql.legacy.statisticalAggregate": "false",
    "spark.sql.legacy.ctePrecedencePolicy": "corrected",
}
_OF_CHAR = {
    "spark.sql.readSideCharPadding": "true",
    "spark.sql.legacy.charVarcharAsString": "false",
    "spark.sql.legacy.noCharPaddingInPredicate": "false",
}
# What a text means depends on them: rows computed under other settings are computed again.
_SEMANTIC = (
    *_TAKEN_FOR_GRANTED,
    *_OF_CHAR,
    "spark.sql.session.timeZone",
    "spark.sql.ansi.enabled",
    "spark.sql.decimalOperations.allowPrecisionLoss",
    "spark.sql.legacy.timeParserPolicy",
    "spark.sql.mapKeyDedupPolicy",
    "spark.sql.legacy.consecutiveStringLiterals.enabled",
    "spark.sql.parser.escapedStringLiterals",
    "spark.sql.legacy.sizeOfNull",
    "spark.sql.legacy.nullInEmptyListBehavior",
    "spark.sql.ansi.doubleQuotedIdentifiers",
    "spark.sql.timestampType",
)
_UTC = ("utc", "etc/utc", "z", "gmt", "+00:00")
_LOSES_ROWS = ("spark.sql.files.ignoreMissingFiles", "spark.sql.files.ignoreCorruptFiles")


def semantic_settings(engine: Engine, header: SqlHeader = NO_HEADER) -> dict[str, str]:
    """Those that are set to something; a default stays unnamed until it is changed.

    header  of the model, which decides as well: its statements are one setting more, `sql_header`
    """
    settings = dict(engine.settings(_SEMANTIC))
    return settings | ({"sql_header": ";\n".join(header.statements)} if header.statements else {})


def decisive(settings: Mapping[str, str]) -> dict[str, str]:
    """Those of some settings that decide what a query means, each value in one spelling."""
    return {
        name: _UTC[0] if (value := text.lower()) in _UTC else value
        for name, text in settings.items()
        if name in _SEMANTIC
    }


def otherwise_in(engine: Engine, settings: Mapping[str, str]) -> tuple[str, ...]:
    """Those of some settings that have another meaning in the session."""
    then, now = decisive(settings), decisive(semantic_settings(engine))
    return tuple(f"{name} = {settings[name]}" for name in then if then[name] != now.get(name))


def refuse_other_meanings(engine: Engine, *, of_char: bool = False) -> None:
    """Raises: NotIncremental if queries mean something else in the session than the compiler reads in them.

    of_char  what columns of CHAR are compared as, instead of the rest
    """
    granted = _OF_CHAR if of_char else _TAKEN_FOR_GRANTED
    for name, value in engine.settings(tuple(granted)).items():
        if value.lower() != granted[name]:
            raise NotIncremental(Fallback(Reason.SQL_NOT_UNDERSTOOD, f"{name} is {value.lower()}"))


def refuse_lossy_settings(engine: Engine, model: str) -> None:
    """Raises: ModelError if Spark was told to pass over files that it cannot read."""
    found: Mapping[str, str] = engine.settings(_LOSES_ROWS)
    for name, value in found.items():
        if value.lower() == "true":
            raise ModelError(
                model,
                f"{name} is true: rows of lost files would be missing without an error",
                f"set {name} to false",
            )
