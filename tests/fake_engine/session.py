"""One session: its settings, its temporary views, and how it resolves a query."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Mapping, Sequence
from typing import Any

from sparkivm.engine import EngineError, Field
from sparkivm.names import TableName
from tests.fake_engine.database import Reference, Template, identifier, query_template
from tests.fake_engine.lake import DeltaTable, Lake, OtherTable, View, not_found

_PARTS = re.compile(r"`((?:[^`]|``)*)`|([^.`]+)")
_WHOLE_TABLE = re.compile(r'SELECT \* FROM __table_0__ AS "[^"]*"')
_SHOW_TABLES = re.compile(r"show tables in (?P<schema>\S+)(?: like '(?P<pattern>[^']*)')?", re.IGNORECASE)
_SUBSTITUTE = "spark.sql.variable.substitute"
_VARIABLE = re.compile(r"\$\{(?:spark:|hiveconf:)?([^}]*)\}")
ANSI = "spark.sql.ansi.enabled"
_DEFAULTS = {
    _SUBSTITUTE: "true",
    "spark.sql.session.timeZone": "UTC",
    ANSI: "false",
    "spark.sql.caseSensitive": "false",
    "spark.sql.sources.partitionOverwriteMode": "STATIC",
    "spark.sql.shuffle.partitions": "2",
}


class Session:
    """`schema` is the default schema."""

    def __init__(self, lake: Lake, schema: str) -> None:
        self.lake, self.schema = lake, schema
        self.settings: dict[str, str] = {}
        self.variables: set[str] = set()  # names, in lower case
        self.temporary: dict[str, View | str] = {}  # by name; for a cached one, the table with its rows

    def setting(self, name: str) -> str | None:
        return self.settings.get(name, _DEFAULTS.get(name))

    def substituted(self, sql: str) -> str:
        """A text in which the session's values replace `${name}`."""
        if self.setting(_SUBSTITUTE) == "false":
            return sql
        return _VARIABLE.sub(lambda found: self.setting(found[1]) or found[0], sql)

    def rows(self, sql: str) -> Sequence[Mapping[str, Any]]:
        """The rows of a query, SHOW TABLES, DESCRIBE TABLE or EXPLAIN."""
        word = sql.split(None, 1)[0].lower()
        if word == "show":
            return self._tables(sql)
        if word == "explain":
            return [{"plan": self.text(sql.split(None, 1)[1])}]
        if word == "describe":
            fields = self.fields(f"select * from {sql.split()[-1]}")
            return [{"col_name": f.name, "data_type": f.type, "comment": None} for f in fields]
        return self.lake.database.rows(self.text(sql))

    def fields(self, sql: str) -> tuple[Field, ...]:
        found = query_template(sql)
        if _WHOLE_TABLE.fullmatch(found.text) and not found.references[0].function:
            relation = self.lake.relations.get(self._name(found.references[0]).key)
            if relation is not None and found.references[0].version is None:
                return relation.newest.fields if isinstance(relation, DeltaTable) else relation.fields
        return self.lake.database.fields(self.filled(found))

    def text(self, sql: str) -> str:
        """The query for the embedded engine. Raises: EngineError."""
        return self.filled(query_template(sql))

    def filled(self, found: Template, schema: str | None = None) -> str:
        """The query over the current rows of its tables. `schema`: the default for names without one."""
        return found.filled(lambda one: self._rows_of(one, schema or self.schema), self.lake.now)

    def name(self, text: str) -> TableName:
        """A relation's name, from its text in a statement."""
        *rest, identifier = (plain or quoted for quoted, plain in _PARTS.findall(text))
        schema = rest.pop() if rest else self.schema
        return TableName(schema, identifier, rest[0] if rest else None)

    def _name(self, one: Reference, schema: str | None = None) -> TableName:
        return TableName(one.schema or schema or self.schema, one.name, one.catalog or None)

    def _rows_of(self, one: Reference, schema: str) -> str:
        if one.function:
            return self._feed(one)
        name = self._name(one, schema)
        if name.schema == "global_temp":
            if name.identifier not in self.lake.kept:
                raise not_found(name)
            return self.lake.kept[name.identifier]
        if not one.schema and one.name in self.temporary:
            found = self.temporary[one.name]
            return found if isinstance(found, str) else self._view(found)
        relation = self.lake.find(name)
        if isinstance(relation, DeltaTable):
            return (relation.newest if one.version is None else relation.at(one.version)).content
        if one.version is not None:
            raise EngineError(f"[UNSUPPORTED_FEATURE.TIME_TRAVEL] {name} has no versions")
        return relation.content if isinstance(relation, OtherTable) else self._view(relation)

    def _view(self, view: View) -> str:
        return f"({self.filled(query_template(view.text), view.schema)})"

    def _feed(self, one: Reference) -> str:
        if one.function != "table_changes":
            raise EngineError(f"[UNRESOLVABLE_TABLE_VALUED_FUNCTION] {one.function}")
        name, first, last = one.arguments
        table = self.lake.delta(self.name(name))
        if int(first) > int(last):
            raise EngineError(f"[DELTA_INVALID_CDC_RANGE] {first} is above {last}")
        end = table.at(int(last))
        columns = ", ".join(identifier(f.name) for f in end.fields)
        parts = [f"select {columns}, '' as _change_type from {end.content} where false"]
        parts += [f"select * from {version.changes}" for version in table.feed(int(first), int(last))]
        return f"({' union all by name '.join(parts)})"

    def _tables(self, sql: str) -> list[dict[str, str]]:
        found = _SHOW_TABLES.fullmatch(sql)
        if found is None:
            raise EngineError(f"[PARSE_SYNTAX_ERROR] {sql}")
        schema = found["schema"].replace("`", "").lower()
        names = [relation.name for relation in self.lake.relations.values()]
        return [
            {"tableName": name.identifier}
            for name in names
            if name.schema.lower() == schema and fnmatch.fnmatch(name.identifier, found["pattern"] or "*")
        ]
