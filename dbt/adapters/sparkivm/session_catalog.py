"""Metadata by calls into this process's JVM: they take milliseconds, a statement fifty to three hundred."""

from __future__ import annotations

import json
import re
import sys
import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from typing import Any
from urllib.parse import unquote

from dbt.adapters.sparkivm.log import logger
from dbt.adapters.sparkivm.sql_catalog import DESCRIBE_QUERY, NOT_FOUND, SqlCatalog, hash_of
from py4j.protocol import Py4JError, Py4JJavaError
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import ArrayType, DataType, MapType, StructField, StructType

from sparkivm.digest import digest
from sparkivm.engine import Commit, EngineError, Field, RelationFacts
from sparkivm.formats.iceberg_metadata import IcebergMetadata, NotReadable
from sparkivm.names import TableName, quoted
from sparkivm.spark.data_types import SparkType, spark_type

_SESSION_CATALOG = "spark_catalog"
_OF_TEMPORARY = ("", "global_temp")  # schemas of temporary views; the second is Spark's default
_ICEBERG = "org.apache.iceberg.spark."
_LOST_METADATA = "org.apache.iceberg.exceptions.NotFoundException"  # a table whose files somebody deleted
_READ_ONE_BY_ONE = 50  # above this many commits DESCRIBE HISTORY is faster, because it reads in parallel
_MOST_FILES = 100  # of an Iceberg table, which are looked for one after the other
_MOST_FOLDERS = 5  # of a table, which are listed one after the other
_FRAME_OF_VECTOR = 8  # bytes: its size before it, and its checksum after it
_DESCRIBED = "DescribeQueryCommand"
_SEPARATOR = "\x01"
_LISTED = re.compile(r"\bpath=[^;]*?([^/;]+); isDirectory=false; length=(\d+);")
# In the JSON of a column.
_COLUMN_ID = re.compile(r'"delta\.columnMapping\.id": ?(\d+)')
_PHYSICAL_NAME = re.compile(r'"delta\.columnMapping\.physicalName": ?"([^"]*)"')
_DECLARED = "__CHAR_VARCHAR_TYPE_STRING"  # where Spark stores the declared type of a string column


class _NotListed(Exception):
    """A listing cannot show whether all files of a table exist."""


def _each(items: Any) -> Iterator[Any]:
    """The items of an iterable in Java."""
    found = items.iterator()
    while found.hasNext():
        yield found.next()


def _file_of_vector(vector: Any, log: Any) -> tuple[str, int]:
    """The path of a deletion vector's file in the table, and the position where the vector ends.

    Raises: _NotListed if the file is outside the table.
    """
    path, offset = vector.urlEncodedRelativePathIfExists(log.dataPath()), vector.offset()
    if path.isEmpty() or offset.isEmpty():
        raise _NotListed("a deletion vector is elsewhere")
    return str(path.get()), int(offset.get()) + int(vector.sizeInBytes()) + _FRAME_OF_VECTOR


class _Jvm:
    """What sessions of one JVM share. Finding a class takes a call for each package in its name."""

    def __init__(self, jvm: Any) -> None:
        self._jvm = jvm
        self.no_options: Any = jvm.PythonUtils.toScalaMap({})
        self.defaults: dict[str, str] = {}  # of settings

    @cached_property
    def logs(self) -> Any:
        return self._jvm.org.apache.spark.sql.delta.DeltaLog

    @cached_property
    def files(self) -> Any:
        return self._jvm.org.apache.spark.sql.delta.util.FileNames

    @cached_property
    def _json(self) -> Any:
        jackson = self._jvm.com.fasterxml.jackson
        mapper = jackson.databind.ObjectMapper()
        mapper.registerModule(jackson.module.scala.DefaultScalaModule())
        return mapper

    def dict_of(self, scala_map: Any) -> dict[str, str]:
        return dict(json.loads(self._json.writeValueAsString(scala_map)))


_jvm_of = lru_cache(maxsize=1)(_Jvm)  # a process has one JVM


class SessionCatalog:
    """Spark's session catalog and Delta's log; by SQL for other catalogs and unknown Delta versions."""

    def __init__(self, session: SparkSession, by_sql: SqlCatalog) -> None:
        self._session = session
        self._java: Any = session._jsparkSession
        jvm: Any = session._jvm
        self._jvm = jvm
        self._shared = _jvm_of(jvm)
        self._by_sql = by_sql
        state = self._java.sessionState()
        self._catalog: Any = state.catalog()
        self._parser: Any = state.sqlParser()
        self._described: dict[str, Any] = {}  # the catalog's entry, with the place of a table's log
        self._metadata: dict[str, IcebergMetadata] = {}  # of Iceberg tables, as last described

    def _is_elsewhere(self, name: TableName) -> bool:
        """Whether it is not in Spark's session catalog."""
        return (name.catalog or self.namespace()[0]) != _SESSION_CATALOG

    def describe(self, name: TableName) -> RelationFacts | None:
        self._metadata.pop(name.key, None)  # the name may belong to another kind of table now
        if self._is_elsewhere(name):
            return self._iceberg(name) or self._by_sql.describe(name)
        try:
            return self._describe(name)
        except AnalysisException as error:
            if error.getCondition() in NOT_FOUND:
                return self._iceberg(name)
            raise
        except Py4JJavaError:
            raise
        except Py4JError as error:  # no such class or method
            logger.debug(f"{name} is described by SQL: {error}")
            return self._by_sql.describe(name)

    def _iceberg(self, name: TableName) -> RelationFacts | None:
        """An Iceberg table according to its newest metadata; None if it is missing or has no versions."""
        try:
            found = self._in_iceberg(name)
            if found is None:
                return None
            found.catalog().invalidateTable(found.identifier())
            iceberg = self._jvm.org.apache.iceberg
            table = found.catalog().loadTable(found.identifier()).table()
            text = iceberg.TableMetadataParser.toJson(table.operations().current())
            fields = _fields(iceberg.spark.SparkSchemaUtil.convert(table.schema()).json())
            self._metadata[name.key] = metadata = IcebergMetadata.parse(text)
            if not name.schema:
                (schema,) = found.identifier().namespace()
                name = TableName(str(schema), name.identifier, name.catalog)
            return metadata.facts(name, fields)
        except Py4JJavaError as error:
            # The catalog or the storage failed, which does not mean that there is no such table.
            logger.debug(f"{name} is described by SQL: {error}")
            is_lost = error.java_exception.getClass().getName() == _LOST_METADATA
            return None if is_lost else self._by_sql.describe(name)
        except (AnalysisException, Py4JError, NotReadable, LookupError) as error:
            logger.debug(f"{name} is described by SQL: {error}")
            return None

    def invalidate(self, name: TableName) -> None:
        try:
            found = self._in_iceberg(name)
            if found is not None:
                found.catalog().invalidateTable(found.identifier())
        except Py4JError as error:
            logger.debug(f"{name} is invalidated by SQL: {error}")
            self._by_sql.invalidate(name)

    def _in_iceberg(self, name: TableName) -> Any:
        """The Iceberg catalog of a name and the identifier in it; None if it is in another catalog."""
        manager = self._java.sessionState().catalogManager()
        catalog = manager.catalog(name.catalog) if name.catalog else manager.currentCatalog()
        if not catalog.getClass().getName().startswith(_ICEBERG):
            return None
        sql = name.sql if name.schema else quoted(name.identifier)
        return self._jvm.org.apache.iceberg.spark.Spark3Util.catalogAndIdentifier(self._java, sql)

    def commits(self, name: TableName, after: int) -> Sequence[Commit]:
        if name.key in self._metadata:
            return self._metadata[name.key].commits(after)
        if self._is_elsewhere(name):
            return self._commits_of_iceberg(name, after)
        try:
            table = self._described.get(name.key) or self._catalog.getTableMetadata(self._identifier(name))
            if self._is_iceberg(table):
                return self._commits_of_iceberg(name, after)
            pair = self._delta(table)
            log, newest = pair._1(), pair._2().version()
            if newest - after > _READ_ONE_BY_ONE:
                # The first commit is compared by its time, and DESCRIBE HISTORY would give the file's time.
                return [
                    *self._commits(log, after, after + 1),
                    *self._by_sql.commits(name, after + 1),
                ]
            return list(self._commits(log, after, newest))
        except Py4JJavaError:
            raise
        except Py4JError as error:
            logger.debug(f"the history of {name} is read by SQL: {error}")
            return self._by_sql.commits(name, after)

    def _commits_of_iceberg(self, name: TableName, after: int) -> Sequence[Commit]:
        """The commits of a table that another connection described."""
        self._iceberg(name)
        known = self._metadata.get(name.key)
        return known.commits(after) if known else self._by_sql.commits(name, after)

    def names_like(self, prefix: TableName) -> Sequence[TableName]:
        return self._by_sql.names_like(prefix)

    def properties_at(self, location: str) -> Mapping[str, str] | None:
        return self._by_sql.properties_at(location)

    def has_all_files(self, table: RelationFacts) -> bool:
        """Whether all files of a table exist with their sizes, without a Spark job.

        False means not known, for example for an older version.
        """
        if table.kind == "iceberg":
            return self._has_files_of_iceberg(table)
        entry = self._described.get(table.name.key)
        if entry is None:
            return False
        try:
            pair = self._delta(entry)
            log, snapshot = pair._1(), pair._2()
            if int(snapshot.version()) != table.version:
                return False
            files = self._files_of(log, snapshot)
            folders = {path.rpartition("/")[0] for path in files}
            if len(folders) > _MOST_FOLDERS:
                return False
            sizes = {path: size for folder in folders for path, size in self._listed(log, folder)}
            return all(sizes.get(path, -1) in allowed for path, allowed in files.items())
        except (Py4JError, _NotListed) as error:
            logger.debug(f"the files of {table.name} are not listed: {error}")
            return False

    def _has_files_of_iceberg(self, table: RelationFacts) -> bool:
        if table.files is None or table.files > _MOST_FILES:
            return False
        try:
            found = self._in_iceberg(table.name)
            iceberg = found.catalog().loadTable(found.identifier()).table()
            files = iceberg.newScan().useSnapshot(table.snapshot).planFiles()
            try:
                return all(self._is_whole(iceberg.io(), task) for task in _each(files))
            finally:
                files.close()
        except Py4JError as error:
            logger.debug(f"the files of {table.name} are not looked for: {error}")
            return False

    @staticmethod
    def _is_whole(io: Any, task: Any) -> bool:
        file = task.file()
        length = io.newInputFile(file.location()).getLength()  # an error if the file is missing
        return bool(length == file.fileSizeInBytes() and task.deletes().isEmpty())

    def _files_of(self, log: Any, snapshot: Any) -> dict[str, range]:
        """The table's data files and deletion vector files: path → allowed sizes.

        For few files the checksum lists them, otherwise it takes a Spark job.
        Raises: _NotListed for vectors of many files, and for vectors outside the table.
        """
        checksum = snapshot.checksumOpt()
        few = checksum.get().allFiles() if checksum.isDefined() else None
        added = few.get() if few is not None and few.isDefined() else None
        if added is None:
            rows = DataFrame(snapshot.allFiles().toDF(), self._session)
            found = [row.asDict() for row in rows.select("path", "size", "deletionVector").collect()]
        else:
            mapper = self._jvm.org.apache.spark.sql.delta.util.JsonUtils.mapper()
            found = json.loads(mapper.writeValueAsString(added))
        files = {file["path"]: range(file["size"], file["size"] + 1) for file in found}
        for number, file in enumerate(found):
            if not file.get("deletionVector"):
                continue
            if added is None:
                raise _NotListed("there are deletion vectors")
            vector = added.apply(number).deletionVector()
            if vector.isOnDisk():
                path, end = _file_of_vector(vector, log)
                files[path] = range(max(end, files.get(path, range(0)).start), sys.maxsize)
        return files

    def _listed(self, log: Any, folder: str) -> Iterator[tuple[str, int]]:
        """The files in a folder of a table: (path in the table, size)."""
        path = log.dataPath()
        if folder:
            path = self._jvm.org.apache.hadoop.fs.Path(path, unquote(folder))
        listed = path.getFileSystem(log.newDeltaHadoopConf()).listStatus(path)
        # As one text, which needs only one call; in an unknown format we find no files in it.
        for name, size in _LISTED.findall(self._jvm.scala.runtime.ScalaRunTime.stringOf(listed)):
            yield f"{folder}/{name}" if folder else name, int(size)

    def expect_commit(self, table: TableName) -> None:
        """Make Delta look up a table's transaction numbers, by a Spark job, in the background.

        The commit reads them at its beginning, and then takes 0.15 to 0.3 s less. An error that matters
        occurs again there.
        """
        entry = self._described.get(table.key)
        if entry is not None:
            threading.Thread(target=self._look_up_transactions, args=(entry,), daemon=True).start()

    def _look_up_transactions(self, entry: Any) -> None:
        try:
            self._delta(entry)._2().setTransactions()
        except Py4JError as error:
            logger.debug(f"the commit looks up the transaction numbers itself: {error}")

    def substituted(self, sql: str) -> str:
        return str(self._jvm.org.apache.spark.sql.internal.VariableSubstitution().substitute(sql))

    def check_query(self, sql: str) -> None:
        self._parsed(sql)

    def schema_of(self, sql: str) -> tuple[Field, ...]:
        fields = _fields(self._analyzed(sql).schema().json())
        return tuple(replace(field, char_length=None) for field in fields)

    def analyzed_plan(self, sql: str) -> str:
        return str(self._analyzed(sql).toString()).strip()

    def optimized_plan(self, sql: str) -> str:
        return str(self._planned(sql).optimizedPlan().toString()).strip()

    def settings(self, keys: Sequence[str]) -> Mapping[str, str | None]:
        """Effective values; None for a setting that has neither a value nor a default."""
        conf, defaults = self._java.conf(), self._shared.defaults
        given = self._shared.dict_of(conf.getAll())
        for key in keys:
            if key not in given and key not in defaults and (found := conf.getOption(key)).isDefined():
                defaults[key] = str(found.get())
        return {key: given.get(key, defaults.get(key)) for key in keys}

    def namespace(self) -> tuple[str, ...]:
        manager = self._java.sessionState().catalogManager()
        return (str(manager.currentCatalog().name()), *map(str, manager.currentNamespace()))

    def variables(self, names: Collection[str]) -> frozenset[str]:
        manager = self._java.sessionState().catalogManager().tempVariableManager()
        if manager.isEmpty():
            return frozenset()
        return self._by_sql.variables(names)

    def foreign_functions(self, names: Collection[str]) -> frozenset[str]:
        replaced = self._replaced_functions() & self._own_functions  # our own statements may call these
        return replaced | self._by_sql.foreign_functions(set(names) - self._own_functions)

    @cached_property
    def _registries(self) -> list[tuple[Any, Any]]:
        """The function registries of the session, and Spark's own."""
        analysis, state = self._jvm.org.apache.spark.sql.catalyst.analysis, self._java.sessionState()
        return [
            (state.functionRegistry(), analysis.FunctionRegistry.builtin()),
            (state.tableFunctionRegistry(), analysis.TableFunctionRegistry.builtin()),
        ]

    @cached_property
    def _own_functions(self) -> frozenset[str]:
        texts = [spark.listFunction().mkString(_SEPARATOR) for _, spark in self._registries]
        return frozenset(_SEPARATOR.join(texts).lower().split(_SEPARATOR))

    def _replaced_functions(self) -> frozenset[str]:
        """Functions that differ between the session and Spark, or that Spark does not have."""
        found: set[str] = set()
        for mine, spark in self._registries:
            others = mine.functionBuilders().toSet().diff(spark.functionBuilders().toSet()).iterator()
            while others.hasNext():
                name = others.next()._1()
                if name.database().isEmpty():  # a schema's functions are registered once they were called
                    found.add(str(name.funcName()).lower())
        return frozenset(found)

    def _analyzed(self, sql: str) -> Any:
        return self._planned(sql).analyzed()

    def _planned(self, sql: str) -> Any:
        """The plans of a query; commands are not run."""
        mode = self._jvm.org.apache.spark.sql.execution.CommandExecutionMode.SKIP()
        return self._java.sessionState().executePlan(self._parsed(sql), mode)

    def _parsed(self, sql: str) -> Any:
        """The plan of a text that is one query. Not by `parseQuery`: its Iceberg parser accepts all texts.

        Raises: EngineError for a text that parses as anything else.
        """
        plan = self._parser.parsePlan(DESCRIBE_QUERY + sql)
        if plan.getClass().getSimpleName() != _DESCRIBED:
            raise EngineError("the text is not one query")
        return plan.plan()

    def _describe(self, name: TableName) -> RelationFacts:
        catalog = self._catalog
        identifier = self._identifier(name)
        temporary = name.schema.lower() in _OF_TEMPORARY and catalog.isTempView(identifier)
        if temporary:
            table = catalog.getTempViewOrPermanentTableMetadata(identifier)
        else:
            if not name.schema:
                name = replace(name, schema=catalog.getCurrentDatabase())
                identifier = self._identifier(name)
            table = catalog.getTableMetadata(identifier)

        if table.tableType().name() == "VIEW":
            text, namespace = table.viewText(), table.viewCatalogAndNamespace().mkString(_SEPARATOR)
            comment, collation = table.comment(), table.collation()
            return RelationFacts(
                name,
                "view",
                _fields(table.schema().json()),
                properties={
                    k: v
                    for k, v in self._shared.dict_of(table.properties()).items()
                    if not k.startswith("view.")
                },
                view_text=str(text.get()) if text.isDefined() else "",
                comment=str(comment.get()) if comment.isDefined() else "",
                view_namespace=tuple(namespace.split(_SEPARATOR)) if namespace else (),
                view_settings=self._shared.dict_of(table.viewSQLConfigs()),
                view_collation=str(collation.get()) if collation.isDefined() else "",
                temporary=temporary,
            )

        format_name = _provider(table)
        if format_name != "delta":
            if self._is_iceberg(table) and (found := self._iceberg(name)) is not None:
                return found
            properties, fields = self._shared.dict_of(table.properties()), _fields(table.schema().json())
            return RelationFacts(name, "other", fields, properties=properties, provider=format_name)

        self._described[name.key] = table
        pair = self._delta(table)
        log, snapshot = pair._1(), pair._2()
        size_bytes, files, commit_id = self._of_newest_commit(log, snapshot)
        metadata = json.loads(snapshot.metadata().json())["metaData"]
        return RelationFacts(
            name,
            "delta",
            _fields(metadata["schemaString"]),
            table_id=metadata["id"],
            version=int(snapshot.version()),
            commit_id=commit_id,
            size_bytes=size_bytes,
            files=files,
            properties=metadata["configuration"],
            partition_columns=tuple(metadata["partitionColumns"]),
            provider="delta",
        )

    def _is_iceberg(self, table: Any) -> bool:
        """Whether a catalog entry is an Iceberg table, as marked by Iceberg's catalog of type hive."""
        if _provider(table) == "hive":
            return self._shared.dict_of(table.properties()).get("table_type", "").lower() == "iceberg"
        return _provider(table) == "iceberg"

    def _identifier(self, name: TableName) -> Any:
        return self._parser.parseTableIdentifier(
            ".".join(map(quoted, filter(None, (name.schema, name.identifier))))
        )

    def _delta(self, table: Any) -> Any:
        """The log of a table in the catalog, and its newest snapshot."""
        return self._shared.logs.forTableWithSnapshot(self._java, table, self._shared.no_options)

    def _of_newest_commit(self, log: Any, snapshot: Any) -> tuple[int, int, str]:
        """The table's bytes and files and the commit's id, from the checksum beside each of Delta's commits.

        Without one, adding up the files takes a Spark job.
        """
        found = snapshot.checksumOpt()
        checksum = found.get() if found.isDefined() else None
        size_bytes = int(checksum.tableSizeBytes() if checksum else snapshot.sizeInBytes())
        files = int(checksum.numFiles() if checksum else snapshot.numOfFiles())
        transaction = checksum.txnId() if checksum else None
        if transaction is not None and transaction.isDefined():
            return size_bytes, files, _of_transaction(transaction.get())
        version = int(snapshot.version())
        return size_bytes, files, next((c.id for c in self._commits(log, version - 1, version)), "")

    def _commits(self, log: Any, after: int, newest: int) -> Iterator[Commit]:
        files = self._shared.files
        hadoop, store = log.newDeltaHadoopConf(), log.store()
        version = after + 1
        while version <= newest:
            path = files.unsafeDeltaFile(log.logPath(), version)
            try:
                lines = store.readAsIterator(path, hadoop)
            except Py4JJavaError as error:
                if error.java_exception.getClass().getName() != "java.io.FileNotFoundException":
                    raise
                version = self._next_commit(store.listFrom(path, hadoop), newest)
                continue
            try:
                if info := _commit_info(lines):
                    yield _commit(version, info)
            finally:
                lines.close()
            version += 1

    def _next_commit(self, listing: Any, newest: int) -> int:
        """The first version in a listing of the log."""
        files = self._shared.files
        while listing.hasNext():
            status = listing.next()
            if files.isDeltaFile(status):
                return int(files.deltaVersion(status))
        return newest + 1


def _provider(table: Any) -> str:
    """The format of a table in the catalog, in lower case."""
    provider = table.provider()
    return str(provider.get()).lower() if provider.isDefined() else "hive"


def _commit_info(lines: Any) -> dict[str, Any] | None:
    """The commitInfo of a commit file; it is the first entry if Delta on Spark wrote it."""
    while lines.hasNext():
        action = json.loads(lines.next())
        if "commitInfo" in action:
            return dict(action["commitInfo"])
    return None


def _commit(version: int, info: dict[str, Any]) -> Commit:
    commit = Commit(
        version=version,
        timestamp_ms=int(info.get("inCommitTimestamp") or info.get("timestamp") or 0),
        operation=str(info.get("operation") or ""),
        metrics={k: str(v) for k, v in (info.get("operationMetrics") or {}).items()},
        parameters={k: _text(v) for k, v in (info.get("operationParameters") or {}).items() if v is not None},
        user_metadata=_text(metadata) if (metadata := info.get("userMetadata")) is not None else None,
    )
    transaction = info.get("txnId")
    return replace(commit, id=_of_transaction(transaction) if transaction else f"log:{hash_of(commit)}")


def _of_transaction(name: str) -> str:
    return f"transaction:{name}"


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))


def _fields(schema_json: str) -> tuple[Field, ...]:
    schema = StructType.fromJson(json.loads(schema_json))
    mapped = "delta.columnMapping." in schema_json
    return tuple(
        Field(
            f.name,
            str(_type(f.dataType).in_queries),
            char_length=spark_type(f.metadata.get(_DECLARED, "")).char_length,
            mapped_to=_mapped_to(f) if mapped else "",
        )
        for f in schema.fields
    )


def _mapped_to(column: StructField) -> str:
    """A hash of the ids and physical names of a column and its nested fields."""
    text = column.json()
    mapped = [_COLUMN_ID.findall(text), _PHYSICAL_NAME.findall(text)]
    return digest(repr(mapped))


def _type(found: DataType) -> SparkType:
    """From the structure, because field names can make a text ambiguous."""
    match found:
        case StructType():
            parts = tuple(_type(field.dataType) for field in found.fields)
            return SparkType("struct", parts=parts, names=tuple(found.names))
        case ArrayType():
            return SparkType("array", parts=(_type(found.elementType),))
        case MapType():
            return SparkType("map", parts=(_type(found.keyType), _type(found.valueType)))
    return spark_type(found.simpleString())
