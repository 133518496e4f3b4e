"""CREATE, DROP and RENAME, and what belongs to a session: temporary views and settings."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from sqlglot import exp

from sparkivm.engine import EngineError, Field
from sparkivm.names import TableName
from tests.fake_engine.commits import commit, count_rows, is_skipped, refused
from tests.fake_engine.database import template
from tests.fake_engine.delta_table import FEED, MAPPING, DeltaTable
from tests.fake_engine.lake import OtherTable, View, already_there, not_found
from tests.fake_engine.session import ANSI, Session

_SIGNS = set(" ,;{}()\n\t=")  # not allowed in column names


def cache(session: Session, found: re.Match[str]) -> None:
    if found["select"]:
        session.temporary[found["name"]] = session.lake.database.content(session.text(found["select"]))


def keep(session: Session, found: re.Match[str]) -> None:
    if found["name"] in session.lake.kept:
        raise EngineError(f"[TEMP_TABLE_OR_VIEW_ALREADY_EXISTS] {found['name']}")
    session.lake.kept[found["name"]] = session.lake.database.content(session.text(found["select"]))


def drop(session: Session, found: re.Match[str]) -> None:
    name, is_view = session.name(found["name"]), found["kind"].lower() == "view"
    if is_view and name.schema == "global_temp" and session.lake.kept.pop(name.identifier, None):
        return
    if is_view and "." not in found["name"] and session.temporary.pop(found["name"].strip("`"), None):
        return
    relation = session.lake.relations.get(name.key)
    if relation is None:
        if found["if_exists"]:
            return
        raise not_found(name)
    if is_view is not isinstance(relation, View):
        raise EngineError(f"[WRONG_COMMAND_FOR_OBJECT_TYPE] {name} is no {found['kind']}")
    session.lake.drop(name)


def rename(session: Session, found: re.Match[str]) -> None:
    session.lake.rename(session.name(found["name"]), session.name(found["new"]))


def set_setting(session: Session, found: re.Match[str]) -> None:
    session.settings[found["name"].strip("`")] = found["value"].strip("`")


def use_schema(session: Session, found: re.Match[str]) -> None:
    session.schema = found["name"].strip("`")


def create(session: Session, tree: exp.Expression) -> None:
    target = tree.this.this if isinstance(tree.this, exp.Schema) else tree.this
    name = named_in(session, target)
    declared = tree.args["properties"].expressions if tree.args.get("properties") else []
    if tree.args["kind"] == "VIEW":
        _create_view(session, name, tree, declared)
    else:
        _create_table(session, name, tree, declared)


def _create_view(
    session: Session, name: TableName, tree: exp.Expression, declared: Sequence[exp.Expression]
) -> None:
    text = tree.meta["query"]
    temporary = any(isinstance(one, exp.TemporaryProperty) for one in declared)
    existing = None if temporary else session.lake.relations.get(name.key)
    if existing is not None and not (isinstance(existing, View) and tree.args.get("replace")):
        raise already_there(name)
    view = View(
        name,
        text,
        session.lake.database.fields(session.text(text)),
        session.schema,
        declared_properties(declared),
        next((one.this.name for one in declared if isinstance(one, exp.SchemaCommentProperty)), ""),
        {ANSI: session.setting(ANSI) or "", **session.settings},  # Spark always stores this one
        temporary,
    )
    if temporary:
        session.temporary[name.identifier] = view
    else:
        session.lake.add(view)


def _create_table(
    session: Session, name: TableName, tree: exp.Expression, declared: Sequence[exp.Expression]
) -> None:
    database, existing = session.lake.database, session.lake.relations.get(name.key)
    provider = next(
        (one.this.name.lower() for one in declared if isinstance(one, exp.FileFormatProperty)), "hive"
    )
    replaces = bool(tree.args.get("replace"))
    if existing is not None:
        if tree.args.get("exists"):
            return
        if not replaces:
            raise already_there(name)
        if not isinstance(existing, DeltaTable):
            raise EngineError(f"[DELTA_CANNOT_REPLACE] {name} is not a Delta table")
    select = tree.expression
    if select is not None:
        text = session.filled(template(select))
        fields = database.fields(text)
    else:
        fields = tuple(
            Field(column.name, column.args["kind"].sql("spark").lower().replace(", ", ","))
            for column in tree.this.expressions
        )
    properties = declared_properties(declared)
    location = next((one.this.name for one in declared if isinstance(one, exp.LocationProperty)), "")
    found = existing or session.lake.files.get(location)  # existing files are reused with their log
    table = (
        replace(found, name=name) if isinstance(found, DeltaTable) else DeltaTable(name, location=location)
    )
    if provider == "delta":
        _check_names(fields, properties, is_query=select is not None)
        if table.versions and (is_skipped(session, table) or (select is None and not replaces)):
            session.lake.add(table)
            return
    if select is not None:
        content = database.content(text, fields)
    else:
        content = database.new_name()
        database.empty(content, fields)
    if provider != "delta":
        session.lake.add(OtherTable(name, provider, fields, content, properties))
        return
    table.partition_columns = tuple(
        column.name
        for one in declared
        if isinstance(one, exp.PartitionedByProperty)
        for column in one.this.expressions
    )
    operation = f"CREATE{' OR REPLACE' * replaces} TABLE{' AS SELECT' * (select is not None)}"
    commit(
        session, table, operation, content, fields=fields, properties=properties, new_id=True,
        metrics={"numOutputRows": count_rows(session, content)} if select is not None else {},
    )  # fmt: skip
    session.lake.add(table)
    if table.location:
        session.lake.files[table.location] = table


def _check_names(fields: Sequence[Field], properties: Mapping[str, str], *, is_query: bool) -> None:
    maps = properties.get(MAPPING, "none").lower() != "none"
    if is_query and maps and properties.get(FEED, "").lower() == "true":
        raise refused("DELTA_BLOCK_COLUMN_MAPPING_AND_CDC_OPERATION", "not in one statement")
    odd = [field.name for field in fields if set(field.name) & _SIGNS]
    if odd and not maps:
        raise refused("DELTA_INVALID_CHARACTERS_IN_COLUMN_NAMES", odd[0])


def declared_properties(declared: Sequence[exp.Expression]) -> dict[str, str]:
    return {
        one.this if isinstance(one.this, str) else one.this.sql("spark").strip("'`"): one.args["value"].name
        or one.args["value"].sql("spark").lower()
        for one in declared
        if isinstance(one, exp.Property) and type(one) is exp.Property
    }


def named_in(session: Session, table: exp.Table) -> TableName:
    return TableName(table.db or session.schema, table.name, table.catalog or None)
