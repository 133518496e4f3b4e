"""Settings that decide what a query means: a session with another value than Spark's default is noticed.

tests/spark/test_session_settings.py compares the values with those of Spark.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from sparkivm.errors import NotIncremental
from sparkivm.refresh.session.session_settings import SEMANTIC, otherwise_in, refuse_other_meanings


def table(text: str) -> dict[str, str]:
    """Names of settings with Spark's defaults; some have none."""
    return {
        name: value for name, _, value in (line.strip().partition(" ") for line in text.splitlines()[1:-1])
    }


ASSUMED_BY_THE_COMPILER = table(
    """
    spark.sql.caseSensitive false
    spark.sql.ansi.relationPrecedence false
    spark.sql.groupByOrdinal true
    spark.sql.groupByAliases true
    spark.sql.orderByOrdinal true
    spark.sql.parser.quotedRegexColumnNames false
    spark.sql.legacy.parseQueryWithoutEof false
    spark.sql.legacy.scalarSubqueryAllowGroupByNonEqualityCorrelatedPredicate false
    spark.sql.legacy.useCurrentConfigsForView false
    spark.sql.legacy.allowSessionVariableInPersistedView false
    spark.sql.legacy.setopsPrecedence.enabled false
    spark.sql.legacy.parser.havingWithoutGroupByAsWhere false
    spark.sql.legacy.statisticalAggregate false
    spark.sql.legacy.ctePrecedencePolicy corrected
    spark.sql.legacy.groupingIdWithAppendedUserGroupBy false
    spark.sql.legacy.scalarSubqueryCountBugBehavior false
    spark.sql.optimizer.decorrelateSubqueryLegacyIncorrectCountHandling.enabled false
    spark.sql.optimizer.decorrelateExistsSubqueryLegacyIncorrectCountHandling.enabled false
    """
)
FOR_CHAR = table(
    """
    spark.sql.readSideCharPadding true
    spark.sql.legacy.charVarcharAsString false
    spark.sql.legacy.noCharPaddingInPredicate false
    """
)
OTHERS = table(
    """
    spark.sql.decimalOperations.allowPrecisionLoss true
    spark.sql.legacy.timeParserPolicy corrected
    spark.sql.mapKeyDedupPolicy exception
    spark.sql.legacy.consecutiveStringLiterals.enabled false
    spark.sql.parser.escapedStringLiterals false
    spark.sql.legacy.sizeOfNull true
    spark.sql.legacy.nullInEmptyListBehavior
    spark.sql.ansi.doubleQuotedIdentifiers false
    spark.sql.timestampType timestamp_ltz
    spark.sql.jsonGenerator.ignoreNullFields true
    spark.sql.columnNameOfCorruptRecord _corrupt_record
    spark.sql.function.concatBinaryAsString false
    spark.sql.function.eltOutputAsString false
    spark.sql.legacy.castComplexTypesToString.enabled false
    spark.sql.legacy.typeCoercion.datetimeToString.enabled false
    spark.sql.legacy.exponentLiteralAsDecimal.enabled false
    spark.sql.legacy.followThreeValuedLogicInArrayExists true
    spark.sql.legacy.negativeIndexInArrayInsert false
    spark.sql.legacy.percentileDiscCalculation false
    spark.sql.legacy.truncateForEmptyRegexSplit false
    spark.sql.legacy.codingErrorAction false
    spark.sql.legacy.javaCharsets false
    spark.sql.legacy.decimal.retainFractionDigitsOnTruncate false
    spark.sql.legacy.literal.pickMinimumPrecision true
    spark.sql.preserveCharVarcharTypeInfo false
    spark.sql.legacy.lpadRpadAlwaysReturnString false
    spark.sql.json.enablePartialResults true
    spark.sql.json.enableExactStringParsing true
    spark.sql.variant.allowDuplicateKeys false
    spark.sql.analyzer.preferColumnOverLcaInArrayIndex true
    spark.sql.chunkBase64String.enabled true
    spark.sql.icu.caseMappings.enabled true
    spark.sql.mapZipWithUsesJavaCollections true
    spark.sql.legacy.allowNegativeScaleOfDecimal false
    spark.sql.legacy.allowNullComparisonResultInArraySort false
    spark.sql.legacy.allowZeroIndexInFormatString false
    spark.sql.legacy.createEmptyCollectionUsingStringType false
    spark.sql.legacy.csv.enableDateTimeParsingFallback
    spark.sql.legacy.disableMapKeyNormalization false
    spark.sql.legacy.fromDayTimeString.enabled false
    spark.sql.legacy.histogramNumericPropagateInputType true
    spark.sql.legacy.integerGroupingId false
    spark.sql.legacy.interval.enabled false
    spark.sql.legacy.json.allowEmptyString.enabled false
    spark.sql.legacy.json.enableDateTimeParsingFallback
    spark.sql.legacy.useLegacyXMLParser false
    """
)
STORED_BY_SPARK = ("spark.sql.session.timeZone", "spark.sql.ansi.enabled")  # with each view
ALL = ASSUMED_BY_THE_COMPILER | FOR_CHAR | OTHERS


class Session:
    """Has one setting with a value."""

    def __init__(self, name: str, value: str) -> None:
        self.values = {name: value}

    def settings(self, names: Sequence[str]) -> dict[str, str]:
        return {name: value for name, value in self.values.items() if name in names}


def session(name: str, value: str) -> Any:
    return Session(name, value)


def another(value: str) -> str:
    return {"true": "false", "false": "true"}.get(value, "another")


def test_each_setting_is_here():
    assert {*ALL, *STORED_BY_SPARK} == SEMANTIC.keys()


@pytest.mark.parametrize("of_char", [False, True])
def test_the_compiler_refuses_a_session_that_reads_queries_otherwise(of_char):
    for name, default in (FOR_CHAR if of_char else ASSUMED_BY_THE_COMPILER).items():
        refuse_other_meanings(session(name, default.upper()), of_char=of_char)
        with pytest.raises(NotIncremental, match=rf"{name} is {another(default)}"):
            refuse_other_meanings(session(name, another(default)), of_char=of_char)


def test_a_plain_view_is_read_by_another_session_as_by_its_own():
    """It was created without the setting, which then has Spark's default."""
    ansi = {"spark.sql.ansi.enabled": "true"}
    for name, default in ALL.items():
        now = session(name, another(default))
        now.values |= ansi
        assert otherwise_in(now, ansi) == (f"{name} = {default or 'its default'}",)
        now.values[name] = default
        assert otherwise_in(now, ansi) == ()
