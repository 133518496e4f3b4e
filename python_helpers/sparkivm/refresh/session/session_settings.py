"""Session settings that decide what a query means. If they change, the view is rebuilt."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from sparkivm.engine import Engine
from sparkivm.errors import ModelError
from sparkivm.frontend.place import not_understood
from sparkivm.refresh.request import NO_HEADER, SqlHeader

_ANSI = "spark.sql.ansi.enabled"
# What the compiler assumes: Spark's defaults.
_TAKEN_FOR_GRANTED = {
    "spark.sql.caseSensitive": "false",
    "spark.sql.ansi.relationPrecedence": "false",
    "spark.sql.groupByOrdinal": "true",
    "spark.sql.groupByAliases": "true",
    "spark.sql.orderByOrdinal": "true",
    "spark.sql.parser.quotedRegexColumnNames": "false",
    "spark.sql.legacy.parseQueryWithoutEof": "false",
    "spark.sql.legacy.scalarSubqueryAllowGroupByNonEqualityCorrelatedPredicate": "false",
    "spark.sql.legacy.useCurrentConfigsForView": "false",
    "spark.sql.legacy.allowSessionVariableInPersistedView": "false",
    "spark.sql.legacy.setopsPrecedence.enabled": "false",
    "spark.sql.legacy.parser.havingWithoutGroupByAsWhere": "false",
    "spark.sql.legacy.statisticalAggregate": "false",
    "spark.sql.legacy.ctePrecedencePolicy": "corrected",
    "spark.sql.legacy.groupingIdWithAppendedUserGroupBy": "false",
    "spark.sql.legacy.scalarSubqueryCountBugBehavior": "false",
    "spark.sql.optimizer.decorrelateSubqueryLegacyIncorrectCountHandling.enabled": "false",
    "spark.sql.optimizer.decorrelateExistsSubqueryLegacyIncorrectCountHandling.enabled": "false",
}
_OF_CHAR = {
    "spark.sql.readSideCharPadding": "true",
    "spark.sql.legacy.charVarcharAsString": "false",
    "spark.sql.legacy.noCharPaddingInPredicate": "false",
}
# The meaning of a text depends on them; if they change, the view is rebuilt. The values are Spark's defaults.
# With these it reads a view that was created without the setting; None for two that Spark 4 always stores.
SEMANTIC: Mapping[str, str | None] = {
    **_TAKEN_FOR_GRANTED,
    **_OF_CHAR,
    "spark.sql.session.timeZone": None,
    _ANSI: None,
    "spark.sql.decimalOperations.allowPrecisionLoss": "true",
    "spark.sql.legacy.timeParserPolicy": "corrected",
    "spark.sql.mapKeyDedupPolicy": "exception",
    "spark.sql.legacy.consecutiveStringLiterals.enabled": "false",
    "spark.sql.parser.escapedStringLiterals": "false",
    "spark.sql.legacy.sizeOfNull": "true",
    "spark.sql.legacy.nullInEmptyListBehavior": "",
    "spark.sql.ansi.doubleQuotedIdentifiers": "false",
    "spark.sql.timestampType": "timestamp_ltz",
    "spark.sql.jsonGenerator.ignoreNullFields": "true",
    "spark.sql.columnNameOfCorruptRecord": "_corrupt_record",
    "spark.sql.function.concatBinaryAsString": "false",
    "spark.sql.function.eltOutputAsString": "false",
    "spark.sql.legacy.castComplexTypesToString.enabled": "false",
    "spark.sql.legacy.typeCoercion.datetimeToString.enabled": "false",
    "spark.sql.legacy.exponentLiteralAsDecimal.enabled": "false",
    "spark.sql.legacy.followThreeValuedLogicInArrayExists": "true",
    "spark.sql.legacy.negativeIndexInArrayInsert": "false",
    "spark.sql.legacy.percentileDiscCalculation": "false",
    "spark.sql.legacy.truncateForEmptyRegexSplit": "false",
    "spark.sql.legacy.codingErrorAction": "false",
    "spark.sql.legacy.javaCharsets": "false",
    "spark.sql.legacy.decimal.retainFractionDigitsOnTruncate": "false",
    "spark.sql.legacy.literal.pickMinimumPrecision": "true",
    "spark.sql.preserveCharVarcharTypeInfo": "false",
    "spark.sql.legacy.lpadRpadAlwaysReturnString": "false",
    "spark.sql.json.enablePartialResults": "true",
    "spark.sql.json.enableExactStringParsing": "true",
    "spark.sql.variant.allowDuplicateKeys": "false",
    "spark.sql.analyzer.preferColumnOverLcaInArrayIndex": "true",
    "spark.sql.chunkBase64String.enabled": "true",
    "spark.sql.icu.caseMappings.enabled": "true",
    "spark.sql.mapZipWithUsesJavaCollections": "true",
    "spark.sql.legacy.allowNegativeScaleOfDecimal": "false",
    "spark.sql.legacy.allowNullComparisonResultInArraySort": "false",
    "spark.sql.legacy.allowZeroIndexInFormatString": "false",
    "spark.sql.legacy.createEmptyCollectionUsingStringType": "false",
    "spark.sql.legacy.csv.enableDateTimeParsingFallback": "",
    "spark.sql.legacy.disableMapKeyNormalization": "false",
    "spark.sql.legacy.fromDayTimeString.enabled": "false",
    "spark.sql.legacy.histogramNumericPropagateInputType": "true",
    "spark.sql.legacy.integerGroupingId": "false",
    "spark.sql.legacy.interval.enabled": "false",
    "spark.sql.legacy.json.allowEmptyString.enabled": "false",
    "spark.sql.legacy.json.enableDateTimeParsingFallback": "",
    "spark.sql.legacy.useLegacyXMLParser": "false",
}
_UTC = ("utc", "etc/utc", "z", "gmt", "+00:00")
_LOSES_ROWS = ("spark.sql.files.ignoreMissingFiles", "spark.sql.files.ignoreCorruptFiles")


def semantic_settings(
    engine: Engine, header: SqlHeader = NO_HEADER, stamp_columns: Collection[str] = ()
) -> dict[str, str]:
    """Those that have a value, also by default.

    header, stamp_columns  of the model; each counts as one more setting
    """
    settings = dict(engine.settings(tuple(SEMANTIC)))
    if header.statements:
        settings["sql_header"] = ";\n".join(header.statements)
    if stamp_columns:
        settings["stamp_columns"] = ", ".join(sorted(map(str.lower, stamp_columns)))
    return settings


def decisive(settings: Mapping[str, str]) -> dict[str, str]:
    """The settings that decide what a query means, each value in one spelling."""
    return {
        name: _UTC[0] if (value := text.lower()) in _UTC else value
        for name, text in settings.items()
        if name in SEMANTIC
    }


def otherwise_in(engine: Engine, settings: Mapping[str, str]) -> tuple[str, ...]:
    """The settings of a view whose meaning differs in this session; Spark reads the view with its own.

    settings  that Spark stored with the view
    """
    then, now = decisive(settings), decisive(semantic_settings(engine))
    stored = [f"{name} = {settings[name]}" for name in then if then[name] != now.get(name)]
    if _ANSI not in then:
        # Spark 3 stored it only if it was set. For such a view, Spark 4 does not take the session's value.
        stored.append(f"no value of {_ANSI}")
    by_default = (
        f"{name} = {SEMANTIC[name] or 'its default'}"
        for name, value in now.items()
        if name not in then and SEMANTIC[name] not in (None, value)
    )
    return (*stored, *by_default)


def refuse_other_meanings(engine: Engine, *, of_char: bool = False) -> None:
    """Raises: NotIncremental if the compiler would read queries differently than this session.

    of_char  check only the settings for comparing CHAR columns
    """
    granted = _OF_CHAR if of_char else _TAKEN_FOR_GRANTED
    for name, value in engine.settings(tuple(granted)).items():
        if value.lower() != granted[name]:
            needed = f"incremental views need {granted[name]}"
            raise not_understood(f"the setting {name} is {value.lower()} in this session; {needed}")


def refuse_lossy_settings(engine: Engine, model: object) -> None:
    """Raises: ModelError if Spark is set to skip files that it cannot read."""
    found: Mapping[str, str] = engine.settings(_LOSES_ROWS)
    for name, value in found.items():
        if value.lower() == "true":
            raise ModelError(
                model,
                f"{name} is true: rows of lost files would be missing without an error",
                f"set {name} to false",
            )
