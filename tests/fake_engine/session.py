"""One session: its settings, its temporary views, and what a query means in it."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Mapping, Sequence
from typing import Any

import sqlglot
from sqlglot import exp

from sparkivm.engine import EngineError, Field
from sparkivm.names import TableName
from tests.fake_engine.database import identifier, parsed, resolved
from tests.fake_engine.lake import DeltaTable, Lake, OtherTable, View, not_found

_SHOW_TABLES = re.compile(r"show tables in (?P<schema>\S+)(?: like '(?P<pattern>[^']*)')?", re.IGNORECASE)
_DEFAULTS = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "false",
    "spark.sql.caseSensitive": "false",
    "spark.sql.sources.partitionOverwriteMode": "static",
    "spark.sql.shuffle.partitions": "2",
}


class Session:
    """`schema` is the one of names without a schema."""

    def __init__(self, lake: Lake, schema: str) -> None:
        self.lake, self.schema = lake, schema
        self.settings: dict[str, str] = {}
        self.temporary: dict[str, View | str] = {}  # by name; or where the rows of a cached one are

    def setting(self, name: str) -> str | None:
        return self.settings.get(name, _DEFAULTS.get(name))

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
        tree = parsed(sql)
        if isinstance(tree, exp.Select) and tree.is_star and len(tree.args) == 2:
            table = tree.args["from_"].this
            if isinstance(table, exp.Table) and not table.args.get("version"):
                relation = self.lake.relations.get(self._name(table).key)
                if isinstance(relation, DeltaTable):
                    return relation.newest.fields
                if relation is not None:
                    return relation.fields
        return self.lake.database.fields(self.text(sql))

    def text(self, sql: str) -> str:
        """A query as the embedded engine takes it."""
        tree = parsed(sql)
        if not isinstance(tree, exp.Query):
            raise EngineError(f"[PARSE_SYNTAX_ERROR] this is no query: {sql}")
        return self.tree(tree).sql("duckdb")

    def tree(self, tree: exp.Expression, schema: str | None = None) -> exp.Expression:
        """A query over the rows that its tables have now. `schema`: of names without one."""
        return resolved(tree, lambda table: self._rows_of(table, schema or self.schema), self.lake.now)

    def name(self, text: str) -> TableName:
        """A relation's name from its text in a statement."""
        return self._name(sqlglot.parse_one(text, into=exp.Table, dialect="spark"))

    def _name(self, table: exp.Table, schema: str | None = None) -> TableName:
        return TableName(table.db or schema or self.schema, table.name, table.catalog or None)

    def _rows_of(self, table: exp.Table, schema: str) -> exp.Expression:
        if isinstance(table.this, exp.Anonymous):
            return self._feed(table.this)
        name = self._name(table, schema)
        if name.schema == "global_temp":
            if name.identifier not in self.lake.kept:
                raise not_found(name)
            return exp.to_table(self.lake.kept[name.identifier])
        if not table.db and table.name in self.temporary:
            found = self.temporary[table.name]
            return exp.to_table(found) if isinstance(found, str) else self._view(found)
        relation = self.lake.find(name)
        version = table.args.get("version")
        if isinstance(relation, DeltaTable):
            number = int(version.expression.name) if version else relation.newest.number
            return exp.to_table(relation.at(number).content)
        if version is not None:
            raise EngineError(f"[UNSUPPORTED_FEATURE.TIME_TRAVEL] {name} has no versions")
        return exp.to_table(relation.content) if isinstance(relation, OtherTable) else self._view(relation)

    def _view(self, view: View) -> exp.Expression:
        """To Spark a view has the columns and types that it was made with."""
        inner = self.tree(parsed(view.text), view.schema)
        return exp.Subquery(this=inner)

    def _feed(self, call: exp.Anonymous) -> exp.Expression:
        if call.name.lower() != "table_changes":
            raise EngineError(f"[UNRESOLVABLE_TABLE_VALUED_FUNCTION] {call.name}")
        name, first, last = (argument.name for argument in call.expressions)
        table = self.lake.delta(self.name(name))
        if int(first) > int(last):
            raise EngineError(f"[DELTA_INVALID_CDC_RANGE] {first} is above {last}")
        end = table.at(int(last))
        columns = ", ".join(identifier(f.name) for f in end.fields)
        parts = [f"select {columns}, '' as _change_type from {end.content} where false"]
        parts += [f"select * from {version.changes}" for version in table.feed(int(first), int(last))]
        return exp.Subquery(this=sqlglot.parse_one(" union all by name ".join(parts), dialect="duckdb"))

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
