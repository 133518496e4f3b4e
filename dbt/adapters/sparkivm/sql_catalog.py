"""Metadata by SQL statements, for connections without access to Spark's objects."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta, timezone, tzinfo
from functools import cached_property
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from dbt.adapters.sparkivm.log import logger

from sparkivm.digest import digest
from sparkivm.engine import Commit, EngineError, Field, RelationFacts, Row
from sparkivm.formats.iceberg_metadata import IcebergMetadata, NotReadable, metadata_query
from sparkivm.marker import read_marker
from sparkivm.names import TableName, literal, parts_of, quoted
from sparkivm.spark.data_types import printed_type

NOT_FOUND = ("TABLE_OR_VIEW_NOT_FOUND", "SCHEMA_NOT_FOUND", "NO_SUCH_CATALOG_EXCEPTION", "CATALOG_NOT_FOUND")

_NO_DELTA_TABLE = (
    "DELTA_MISSING_DELTA_TABLE",
    "DELTA_PATH_DOES_NOT_EXIST",
    "DELTA_TABLE_NOT_FOUND",
    *NOT_FOUND,
)
_PROPERTY = re.compile(r"(sparkivm\.\w+)=([^,\]]*)")  # our properties, in a list of all
_HIDDEN = "*********(redacted)"
_READINGS = 3  # attempts, for a table that is replaced while it is read
_OPTIMIZED = "== Optimized Logical Plan =="  # a query that Spark cannot analyze has none
_ENTRY = re.compile(r'"([^"]+)":"(.*?)"(?=,"[^"]+":|\}$)', re.DOTALL)
# A CHAR column in an analyzed plan: its length and name.
_PADDED = re.compile(r"readSidePadding\([^\n]+?#\d+, (\d+)\)\) AS ([^\n]+?)#\d+")
# Spark's pattern for references to substitute (org.apache.spark.internal.config.ConfigReader).
_REFERENCE = re.compile(r"\$\{(?:\w+?:)?\S+?\}", re.ASCII)
_VALUE_KEY, _BEGIN, _END = "sparkivm.value", "<ivm<", ">ivm>"
# Accepts only a single query, whatever parsers extend Spark's, and runs nothing.
DESCRIBE_QUERY = "describe query\n"
_OFFSET = re.compile(r"(?:UTC|GMT|UT|Z)?(?:(?P<sign>[+-])(?P<hours>\d\d?)(?::?(?P<minutes>\d\d))?)?")
_NO_FUNCTION = ("ROUTINE_NOT_FOUND", "UNRESOLVED_ROUTINE")
_OWN_FUNCTION = "Class: org.apache.spark.sql.catalyst."


class SqlCatalog:
    """DESCRIBE, DESCRIBE DETAIL and DESCRIBE HISTORY; for CHAR columns of Delta tables also EXPLAIN.

    query         runs a statement without substitution
    substituting  runs a statement in which Spark replaces `${name}`, if that needs another way
    local_times   whether timestamps without a zone are in this machine's, as from pyspark; else the session's
    """

    def __init__(
        self,
        query: Callable[[str], Sequence[Row]],
        substituting: Callable[[str], Sequence[Row]] | None = None,
        *,
        local_times: bool = False,
    ) -> None:
        self._query, self._substituting = query, substituting or query
        self._local_times = local_times
        self._versions: dict[str, int] = {}  # as last seen
        self._metadata: dict[str, IcebergMetadata] = {}  # of Iceberg tables, as last described

    def describe(self, name: TableName) -> RelationFacts | None:
        sql = name.sql if name.schema else quoted(name.identifier)
        try:
            rows = self._query(f"describe table extended {sql}")
        except EngineError as error:
            if error.condition in NOT_FOUND:
                return None
            raise
        self._metadata.pop(name.key, None)  # the name may belong to another kind of table now
        columns, table = _columns_and_facts(rows)
        provider = table.get("Provider", "").lower()
        if not name.schema and table:
            schema = table.get("Database") or self._query("select current_schema() as name")[0]["name"]
            name = TableName(schema, name.identifier, name.catalog)
        if provider == "delta" and table.get("Type") != "VIEW":
            return self._delta(name, sql, columns)
        if table.get("Type") == "VIEW" or not table:
            return RelationFacts(
                name,
                "view",
                _fields(columns),
                properties=self._view_properties(sql) if table else {},
                view_text=table.get("View Text", ""),
                comment=table.get("Comment", ""),
                view_namespace=parts_of(table.get("View Catalog and Namespace", "")),
                view_settings=self._view_settings(sql) if table else {},
                view_collation=table.get("Collation", ""),
                temporary=not table,
            )
        properties = dict(_PROPERTY.findall(table.get("Table Properties", "")))
        if provider == "iceberg":
            is_ours = read_marker(properties) is not None
            if (found := self._iceberg(name, sql, columns, must_be_readable=is_ours)) is not None:
                return found
        return RelationFacts(name, "other", _fields(columns), properties=properties, provider=provider)

    def _delta(self, name: TableName, sql: str, columns: Sequence[tuple[str, str]]) -> RelationFacts:
        """A Delta table at one version: HISTORY and DETAIL have the time of its commit.

        EXPLAIN, between them, fails if the table does not have as many columns as DESCRIBE said before. So a
        column that somebody adds meanwhile is noticed without another statement.
        """
        for reading in range(_READINGS):
            if reading:
                columns, _ = _columns_and_facts(self._query(f"describe table extended {sql}"))
            newest = self._query(f"describe history {sql} limit 1")[0]
            explained = self._explanation(_columns_renamed(columns, sql))
            detail = self._query(f"describe detail {sql}")[0]
            is_of_one = self._milliseconds(newest["timestamp"]) == self._milliseconds(detail["lastModified"])
            if is_of_one and _OPTIMIZED in explained:
                break
        if _OPTIMIZED not in explained:
            raise EngineError(explained)
        commit = self._commit(newest)
        self._versions[name.key] = commit.version
        # DESCRIBE says string for CHAR(n), but the plan shows n.
        padded = _PADDED.findall(_section(explained, "Analyzed Logical Plan"))
        lengths = {column: int(length) for length, column in padded}
        return RelationFacts(
            name,
            "delta",
            tuple(replace(field, char_length=lengths.get(field.name)) for field in _fields(columns)),
            table_id=str(detail["id"]),
            version=commit.version,
            commit_id=commit.id,
            described_commit=commit,
            size_bytes=int(detail["sizeInBytes"]),
            files=int(detail["numFiles"]),
            properties=_mapping(detail["properties"]),
            partition_columns=tuple(_sequence(detail["partitionColumns"])),
            provider="delta",
        )

    def invalidate(self, name: TableName) -> None:
        self._query(f"refresh table {name.sql}")

    def _iceberg(
        self, name: TableName, sql: str, columns: Sequence[tuple[str, str]], *, must_be_readable: bool
    ) -> RelationFacts | None:
        """An Iceberg table according to its newest metadata file; None if it cannot be read.

        Raises: EngineError, if a state must be readable: one that is not is replaced.
        """
        try:
            for reading in range(_READINGS):
                if reading:
                    columns, _ = _columns_and_facts(self._query(f"describe table extended {sql}"))
                self.invalidate(name)
                files = self._query(f"select file from {name.sql}.metadata_log_entries")
                text = "".join(str(row["value"]) for row in self._query(metadata_query(files[-1]["file"])))
                metadata = IcebergMetadata.parse(text)
                if metadata.names == [column for column, _ in columns]:
                    self._metadata[name.key] = metadata
                    return metadata.facts(name, _fields(columns))
            raise EngineError(f"the columns of {name} changed each time it was described; run dbt again")
        except (EngineError, NotReadable, ValueError, LookupError) as error:
            if must_be_readable and isinstance(error, EngineError):
                raise
            logger.debug(f"{name} is treated as a table without history: {error}")
            return None

    def commits(self, name: TableName, after: int) -> Sequence[Commit]:
        """We read no older commits: Delta reports the file's time for the first one, for others maybe not.

        Delta moves times so that each is after the one before, and times are part of the ids.
        """
        if name.key in self._metadata:
            return self._metadata[name.key].commits(after)
        number = 1
        while True:
            number = max(number, self._versions.get(name.key, 0) - after)
            try:
                rows = self._query(f"describe history {name.sql} limit {number}")
            except EngineError:
                self.describe(name)
                if name.key not in self._metadata:  # not an Iceberg table that another connection described
                    raise
                return self._metadata[name.key].commits(after)
            self._versions[name.key] = max((int(row["version"]) for row in rows), default=0)
            if self._versions[name.key] - after <= number:
                return [self._commit(row) for row in reversed(rows) if int(row["version"]) > after]

    def names_like(self, prefix: TableName) -> Sequence[TableName]:
        schema = ".".join(map(quoted, prefix.parts[:-1]))
        pattern = literal(re.sub(r"\W", "*", prefix.identifier) + "*")
        try:
            rows = self._query(f"show tables in {schema} like {pattern}")
        except EngineError as error:
            if error.condition in NOT_FOUND:
                return []
            raise
        names = (str(row["tableName"]) for row in rows if not row["isTemporary"])
        return [
            replace(prefix, identifier=name)
            for name in names
            if name.lower().startswith(prefix.identifier.lower())
        ]

    def properties_at(self, location: str) -> Mapping[str, str] | None:
        try:
            return _mapping(self._query(f"describe detail delta.{quoted(location)}")[0]["properties"])
        except EngineError as error:
            if error.condition in _NO_DELTA_TABLE:
                return None
            raise

    def expect_commit(self, table: TableName) -> None:
        """No statement can do this."""

    def substituted(self, sql: str) -> str:
        values = {reference: self._value(reference) for reference in set(_REFERENCE.findall(sql))}
        return _REFERENCE.sub(lambda found: values[found[0]], sql)

    def _value(self, reference: str) -> str:
        """The value that Spark substitutes for a reference, found by setting one of our own keys to it."""
        try:
            row = self._substituting(f"set {_VALUE_KEY}={_BEGIN}{reference}{_END}")[0]
        except EngineError as error:
            raise EngineError(f"cannot read the value of {reference}: {error}") from None
        finally:
            self._query(f"reset {_VALUE_KEY}")
        found = re.fullmatch(rf".*?{_BEGIN}(.*){_END}.*", str(row["value"]), re.DOTALL)
        if found is None:
            raise EngineError(f"cannot read the value of {reference}: Spark truncates it")
        return found[1]

    def check_query(self, sql: str) -> None:
        self._described(sql)

    def schema_of(self, sql: str) -> tuple[Field, ...]:
        return _fields([(row["col_name"], row["data_type"]) for row in self._described(sql)])

    def analyzed_plan(self, sql: str) -> str:
        self._described(sql)  # EXPLAIN accepts commands, and runs some of them
        plan = _section(self._explained(sql), "Analyzed Logical Plan")
        return plan.partition("\n")[2].strip()  # the first line names the columns

    def optimized_plan(self, sql: str) -> str:
        self._described(sql)
        return _section(self._explained(sql), "Optimized Logical Plan").strip()

    def namespace(self) -> tuple[str, ...]:
        (row,) = self._query("select current_catalog() as catalog, current_schema() as name")
        return (row["catalog"], *parts_of(row["name"]))

    def variables(self, names: Collection[str]) -> frozenset[str]:
        return frozenset(name.lower() for name in names if self._is_variable(name))

    def _is_variable(self, name: str) -> bool:
        try:
            self._described(f"select system.session.{quoted(name)}")
        except EngineError as error:
            if error.condition.startswith("UNRESOLVED_"):
                return False
            raise
        return True

    def foreign_functions(self, names: Collection[str]) -> frozenset[str]:
        return frozenset(name for name in names if name.startswith(".") or self._is_foreign(name))

    def _is_foreign(self, name: str) -> bool:
        try:
            rows = self._query(f"describe function {quoted(name)}")
        except EngineError as error:
            if error.condition in _NO_FUNCTION:
                return False
            raise
        return not any(str(row["function_desc"]).startswith(_OWN_FUNCTION) for row in rows)

    def _described(self, sql: str) -> Sequence[Row]:
        try:
            return self._query(DESCRIBE_QUERY + sql)
        except EngineError as error:
            raise error.below(1) from None

    def _explained(self, sql: str) -> str:
        text = self._explanation(sql)
        if "== Analyzed Logical Plan ==" not in text:
            raise EngineError(text)
        return text

    def _explanation(self, sql: str) -> str:
        """The plans, or an error in their place, which may have several rows."""
        rows = self._query(f"explain extended\n{sql}")
        return "\n".join(str(value) for row in rows for value in row.values())

    def _commit(self, row: Row) -> Commit:
        commit = Commit(
            version=int(row["version"]),
            timestamp_ms=self._milliseconds(row["timestamp"]),
            operation=str(row["operation"] or ""),
            metrics=_mapping(row["operationMetrics"]),
            parameters=_mapping(row["operationParameters"]),
            user_metadata=row["userMetadata"],
        )
        return replace(commit, id=f"history:{hash_of(commit)}")

    def _milliseconds(self, timestamp: datetime | str) -> int:
        moment = datetime.fromisoformat(timestamp) if isinstance(timestamp, str) else timestamp
        if moment.tzinfo is None:
            moment = moment.astimezone() if self._local_times else moment.replace(tzinfo=self._zone)
        return int(moment.timestamp() * 1000)

    @cached_property
    def _zone(self) -> tzinfo:
        """The session's time zone."""
        return _zone_of(str(self._query("select current_timezone() as zone")[0]["zone"]))

    def _view_properties(self, sql: str) -> dict[str, str]:
        """Without those that the server's `spark.redaction.regex` hides."""
        rows = self._query(f"show tblproperties {sql}")
        return {
            row["key"]: row["value"]
            for row in rows
            if not row["key"].startswith("view.") and row["value"] != _HIDDEN
        }

    def _view_settings(self, sql: str) -> dict[str, str]:
        rows = self._query(f"describe table extended {sql} as json")
        return dict(json.loads(rows[0]["json_metadata"]).get("view_creation_spark_configuration", {}))


def _columns_and_facts(rows: Sequence[Row]) -> tuple[list[tuple[str, str]], dict[str, str]]:
    """The columns, up to a blank or `#` line, and the lines below `# Detailed Table Information`."""
    names = [row["col_name"] for row in rows]
    end = next((i for i, name in enumerate(names) if not name or name.startswith("# ")), len(names))
    start = (
        names.index("# Detailed Table Information") if "# Detailed Table Information" in names else len(names)
    )
    columns = [(row["col_name"], row["data_type"]) for row in rows[:end]]
    return columns, {row["col_name"]: row["data_type"] for row in rows[start + 1 :]}


def _columns_renamed(columns: Sequence[tuple[str, str]], relation: str) -> str:
    """A query that Spark cannot analyze if these are not all columns of a relation."""
    names = ", ".join(f"c{i}" for i in range(len(columns)))
    return f"select 1 from {relation} as q({names})"


def _fields(columns: Sequence[tuple[str, str]]) -> tuple[Field, ...]:
    types = ((name, printed_type(type_)) for name, type_ in columns)
    return tuple(Field(name, str(type_.in_queries), type_.char_length) for name, type_ in types)


def hash_of(commit: Commit) -> str:
    """A hash that distinguishes a commit from others if it has no id of its own.

    Parameters are left out, because connections print quotes in them differently.
    """
    identity = (commit.timestamp_ms, commit.operation, sorted(commit.metrics.items()))
    return digest(repr(identity))


def _section(explained: str, title: str) -> str:
    return explained.partition(f"== {title} ==\n")[2].partition("\n== ")[0]


def _zone_of(name: str) -> tzinfo:
    """A time zone as Spark names it: a region, or an offset such as `+02:00`; UTC for Java's own names."""
    found = _OFFSET.fullmatch(name)
    if found is None:
        try:
            return ZoneInfo(name)
        except (ZoneInfoNotFoundError, ValueError):
            return timezone.utc
    offset = timedelta(hours=int(found["hours"] or 0), minutes=int(found["minutes"] or 0))
    return timezone(-offset if found["sign"] == "-" else offset)


def _mapping(value: object) -> dict[str, str]:
    """A map, or its text from a thrift server: JSON, except for unescaped quotes in values."""
    if isinstance(value, dict):
        return {str(k): str(v) for k, v in value.items() if v is not None}
    return dict(_ENTRY.findall(str(value or "")))


def _sequence(value: object) -> list[str]:
    """A list, or its text from a thrift server."""
    if isinstance(value, (list, tuple)):
        return [str(v) for v in value]
    return re.findall(r'"((?:[^"\\]|\\.)*)"', str(value or ""))
