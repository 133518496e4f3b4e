"""Statements that change something, as Delta does: what they commit, what the log says of it, what is skipped."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import sqlglot
from sqlglot import exp
from sqlglot.tokenizer_core import TokenType

from sparkivm.engine import EngineError, Field
from sparkivm.names import TableName
from tests.fake_engine.database import duckdb_type, identifier, parsed, template
from tests.fake_engine.delta_table import FEED, DeltaTable, Version
from tests.fake_engine.lake import OtherTable, Relation, View, already_there, not_found
from tests.fake_engine.session import Session

_METADATA = "spark.databricks.delta.commitInfo.userMetadata"
_APPLICATION = "spark.databricks.delta.write.txnAppId"
_NUMBER = "spark.databricks.delta.write.txnVersion"
_MAPPING = "delta.columnMapping.mode"
_SIGNS = set(" ,;{}()\n\t=")  # in names of columns
_SAYS_CHANGE = "_change_type"

Rows = Sequence[Mapping[str, Any]]
_QUERY_WORDS = ("select", "with", "show", "describe", "explain", "(", "values", "from")


def execute(session: Session, sql: str) -> Rows:
    """Run a statement in a session. Returns: its rows, if it has some."""
    sql = sql.strip().rstrip(";")
    if sql.lower().startswith(_QUERY_WORDS):
        return session.rows(sql)
    for pattern, run in _BY_TEXT:
        found = pattern.fullmatch(sql)
        if found is not None:
            return run(session, found) or ()
    tree = parsed(sql)
    tree.meta["query"] = _query_text(sql) if isinstance(tree, exp.Create) else ""
    run_tree = _BY_TREE.get(type(tree))
    if run_tree is None:
        raise EngineError(f"[PARSE_SYNTAX_ERROR] the fake engine does not know: {sql}")
    return run_tree(session, tree) or ()


def _query_text(sql: str) -> str:
    """What stands behind the first AS, as it is written."""
    tokens = sqlglot.tokenize(sql, read="spark")
    start = next((token.end + 1 for token in tokens if token.token_type is TokenType.ALIAS), len(sql))
    return sql[start:].strip()


def _named_in(session: Session, table: exp.Table) -> TableName:
    return TableName(table.db or session.schema, table.name, table.catalog or None)


# what only the session or the catalog sees


def _cache(session: Session, found: re.Match[str]) -> None:
    if found["select"]:
        session.temporary[found["name"]] = session.lake.database.content(session.text(found["select"]))


def _keep(session: Session, found: re.Match[str]) -> None:
    if found["name"] in session.lake.kept:
        raise EngineError(f"[TEMP_TABLE_OR_VIEW_ALREADY_EXISTS] {found['name']}")
    session.lake.kept[found["name"]] = session.lake.database.content(session.text(found["select"]))


def _drop(session: Session, found: re.Match[str]) -> None:
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


def _rename(session: Session, found: re.Match[str]) -> None:
    session.lake.rename(session.name(found["name"]), session.name(found["new"]))


def _set(session: Session, found: re.Match[str]) -> None:
    session.settings[found["name"].strip("`")] = found["value"].strip("`")


def _use(session: Session, found: re.Match[str]) -> None:
    session.schema = found["name"].strip("`")


# CREATE


def _create(session: Session, tree: exp.Expression) -> None:
    target = tree.this.this if isinstance(tree.this, exp.Schema) else tree.this
    name = _named_in(session, target)
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
        _properties(declared),
        next((one.this.name for one in declared if isinstance(one, exp.SchemaCommentProperty)), ""),
        dict(session.settings),
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
    properties = _properties(declared)
    location = next((one.this.name for one in declared if isinstance(one, exp.LocationProperty)), "")
    found = existing or session.lake.files.get(location)  # files that are there are taken up with their log
    table = (
        replace(found, name=name) if isinstance(found, DeltaTable) else DeltaTable(name, location=location)
    )
    if provider == "delta":
        _check_names(fields, properties)
        if table.versions and (_is_skipped(session, table) or (select is None and not replaces)):
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
    _commit(
        session, table, operation, content, fields=fields, properties=properties, new_id=True,
        metrics={"numOutputRows": _count(session, content)} if select is not None else {},
    )  # fmt: skip
    session.lake.add(table)
    if table.location:
        session.lake.files[table.location] = table


def _check_names(fields: Sequence[Field], properties: Mapping[str, str]) -> None:
    maps = properties.get(_MAPPING, "none").lower() != "none"
    if maps and properties.get(FEED, "").lower() == "true":
        raise _refused("DELTA_BLOCK_COLUMN_MAPPING_AND_CDC_OPERATION", "not in one statement")
    odd = [field.name for field in fields if set(field.name) & _SIGNS]
    if odd and not maps:
        raise _refused("DELTA_INVALID_CHARACTERS_IN_COLUMN_NAMES", odd[0])


def _properties(declared: Sequence[exp.Expression]) -> dict[str, str]:
    return {
        one.this if isinstance(one.this, str) else one.this.sql("spark").strip("'`"): one.args["value"].name
        or one.args["value"].sql("spark").lower()
        for one in declared
        if isinstance(one, exp.Property) and type(one) is exp.Property
    }


# writes to a Delta table, or to one of another format


def _insert(session: Session, tree: exp.Expression) -> None:
    schema = tree.this
    columns = [c.name for c in schema.expressions] if isinstance(schema, exp.Schema) else []
    name = _named_in(session, schema.this if isinstance(schema, exp.Schema) else schema)
    relation, database = session.lake.find(name), session.lake.database
    rows = session.filled(template(tree.expression))
    if isinstance(relation, DeltaTable) and _is_skipped(session, relation):
        return
    old, fields = _content(relation)
    came = database.new_name()
    database.empty(came, fields)
    names = f"({', '.join(map(identifier, columns))}) " if columns else ""
    database.run(f"insert into {came} {names}{rows}")
    overwrite, part = bool(tree.args.get("overwrite")), tree.args.get("where")
    if part is not None:
        where = f"coalesce({_expression(session, part)}, false)"
    elif overwrite:
        where = _overwritten(session, relation, came)
    else:
        where = "false"
    if part is not None and database.rows(f"select 1 from {came} where not {where}"):
        raise _refused("DELTA_REPLACE_WHERE_MISMATCH", f"a row does not match {where}")
    content = database.content(f"select * from {old} where not ({where}) union all select * from {came}")
    if not isinstance(relation, DeltaTable):
        _replace_content(session, relation, content)
        return
    gone = f"select * from {old} where {where}"
    metrics: dict[str, object] = {"numOutputRows": _count(session, came)}
    parameters: dict[str, object] = {"mode": "Overwrite" if overwrite or part is not None else "Append"}
    if part is not None:
        metrics |= {"numDeletedRows": len(database.rows(gone)), "numCopiedRows": 0}
        parameters["predicate"] = json.dumps([part.sql("spark")])
    _commit(
        session, relation, "WRITE", content, metrics=metrics, parameters=parameters,
        changes=_changes(session, {"delete": gone, "insert": f"select * from {came}"}),
    )  # fmt: skip


def _overwritten(session: Session, relation: Relation, came: str) -> str:
    """Which rows INSERT OVERWRITE takes away."""
    partitions = relation.partition_columns if isinstance(relation, DeltaTable) else ()
    if not partitions or session.setting("spark.sql.sources.partitionOverwriteMode") != "dynamic":
        return "true"
    names = ", ".join(map(identifier, partitions))
    return f"({names}) in (select ({names}) from {came})"


def _delete(session: Session, tree: exp.Expression) -> None:
    relation, database = session.lake.find(_named_in(session, tree.this)), session.lake.database
    if isinstance(relation, DeltaTable) and _is_skipped(session, relation):
        return
    old, _ = _content(relation)
    where = f"coalesce({_expression(session, tree.args.get('where'))}, false)"
    gone = database.rows(f"select 1 from {old} where {where}")
    content = database.content(f"select * from {old} where not {where}")
    if not isinstance(relation, DeltaTable):
        _replace_content(session, relation, content)
    elif gone or _transaction(session):
        _commit(
            session, relation, "DELETE", content, metrics={"numDeletedRows": len(gone)},
            changes=_changes(session, {"delete": f"select * from {old} where {where}"}),
        )  # fmt: skip


def _update(session: Session, tree: exp.Expression) -> None:
    relation, database = session.lake.find(_named_in(session, tree.this)), session.lake.database
    if isinstance(relation, DeltaTable) and _is_skipped(session, relation):
        return
    old, fields = _content(relation)
    where = f"coalesce({_expression(session, tree.args.get('where'))}, false)"
    new = {e.this.name.lower(): _expression(session, e.expression) for e in tree.expressions}
    values = ", ".join(
        f"cast({new.get(f.name.lower(), identifier(f.name))} as {_type(f)}) as {identifier(f.name)}"
        for f in fields
    )
    before, after = f"select * from {old} where {where}", f"select {values} from {old} where {where}"
    content = database.content(f"select * from {old} where not {where} union all {after}")
    if not isinstance(relation, DeltaTable):
        _replace_content(session, relation, content)
        return
    updated = len(database.rows(before))
    if updated or _transaction(session):
        _commit(
            session, relation, "UPDATE", content, metrics={"numUpdatedRows": updated},
            changes=_changes(session, {"update_preimage": before, "update_postimage": after}),
        )  # fmt: skip


def _merge(session: Session, tree: exp.Expression) -> Rows:
    table, database = session.lake.delta(_named_in(session, tree.this)), session.lake.database
    if _is_skipped(session, table):
        return ()
    old, fields = _content(table)
    tree = tree.copy()
    target, using = tree.this.alias or tree.this.name, tree.args["using"]
    rows = using.this if isinstance(using, exp.Subquery) else exp.select("*").from_(using)
    source = database.content(session.filled(template(rows)))
    content = database.content(f"select * from {old}", fields)
    tree.set("using", _named(source, using.alias or using.name))
    tree.set("this", _named(content, target))
    for clause in tree.find_all(exp.When):
        for assigned in (
            clause.args["then"].expressions if isinstance(clause.args["then"], exp.Update) else ()
        ):
            assigned.this.set("table", None)  # to the embedded engine the target has no name there
    merge = tree.sql("duckdb")
    if " UPDATE " in merge:
        twice = database.rows(
            f"select 1 from {content} as {target} join {tree.args['using'].sql('duckdb')} "
            f"on {tree.args['on'].sql('duckdb')} group by {target}.rowid having count(*) > 1"
        )
        if twice:
            raise _refused("DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE", str(table.name))
    done = [row["merge_action"] for row in database.rows(f"{merge} returning merge_action")]
    counts = {word: done.count(word.upper()) for word in ("insert", "update", "delete")}
    if done or _transaction(session):
        new = f"select * from {content}"
        feed = {
            "delete": f"select * from {old} except all {new}",
            "insert": f"{new} except all select * from {old}",
        }
        metrics = {
            f"numTargetRows{word.title()}{'ed' if word == 'insert' else 'd'}": n for word, n in counts.items()
        }
        _commit(session, table, "MERGE", content, metrics=metrics, changes=_changes(session, feed))
    return [{"num_affected_rows": len(done)}]


def _named(table: str, alias: str) -> exp.Table:
    return exp.Table(this=exp.to_identifier(table), alias=exp.TableAlias(this=exp.to_identifier(alias)))


def _truncate(session: Session, tree: exp.Expression) -> None:
    _delete(session, parsed(f"delete from {tree.expressions[0].sql('spark')} where true"))


def _content(relation: Relation) -> tuple[str, tuple[Field, ...]]:
    if isinstance(relation, DeltaTable):
        return relation.newest.content, relation.newest.fields
    if isinstance(relation, OtherTable):
        return relation.content, relation.fields
    raise EngineError(f"[EXPECT_TABLE_NOT_VIEW] {relation.name} is a view")


def _replace_content(session: Session, relation: Relation, content: str) -> None:
    assert isinstance(relation, OtherTable)
    session.lake.add(replace(relation, content=content))


def _expression(session: Session, node: exp.Expression | None) -> str:
    if node is None:
        return "true"
    inner = node.this if isinstance(node, exp.Where) else node
    return session.filled(template(exp.Paren(this=inner.copy())))


def _type(field: Field) -> str:
    return duckdb_type(field.type)


def _changes(session: Session, parts: Mapping[str, str]) -> str:
    return session.lake.database.content(
        " union all ".join(
            f"select *, '{kind}' as {_SAYS_CHANGE} from ({rows})" for kind, rows in parts.items()
        )
    )


def _count(session: Session, content: str) -> int:
    return int(session.lake.database.rows(f"select count(*) as n from {content}")[0]["n"])


# commits


def _transaction(session: Session) -> tuple[str, int] | None:
    application = session.settings.get(_APPLICATION)
    return (application, int(session.settings[_NUMBER])) if application else None


def _is_skipped(session: Session, table: DeltaTable) -> bool:
    """Delta takes a number that is not above the application's last one for a write that was done."""
    transaction = _transaction(session)
    return transaction is not None and transaction[1] <= table.transactions.get(transaction[0], -1)


def _commit(
    session: Session, table: DeltaTable, operation: str, content: str | None = None, **what: Any
) -> Version:
    """One commit, with the session's metadata. What changes rows has its transaction number too."""
    transaction = _transaction(session)
    if content is not None and transaction is not None:
        table.transactions[transaction[0]] = transaction[1]
    newest = table.versions[-1] if table.versions else None
    return table.add(
        operation,
        session.lake.tick(),
        content=content or (newest.content if newest else ""),
        fields=what.pop("fields", newest.fields if newest else ()),
        user_metadata=session.settings.get(_METADATA),
        **what,
    )


# what Delta knows beside


def _set_properties(session: Session, found: re.Match[str]) -> None:
    changed = _read_properties(found["properties"])
    _change_properties(session, session.name(found["name"]), "SET", changed, lambda now: {**now, **changed})


def _unset_properties(session: Session, found: re.Match[str]) -> None:
    gone = [one.strip("' ") for one in found["names"].split(",")]
    _change_properties(
        session,
        session.name(found["name"]),
        "UNSET",
        gone,
        lambda now: {k: v for k, v in now.items() if k not in gone},
    )


def _change_properties(
    session: Session,
    name: TableName,
    word: str,
    parameters: object,
    change: Callable[[Mapping[str, str]], dict[str, str]],
) -> None:
    relation = session.lake.find(name)
    if isinstance(relation, DeltaTable):
        _commit(
            session, relation, f"{word} TBLPROPERTIES", properties=change(relation.newest.properties),
            parameters={"properties": json.dumps(parameters)},
        )  # fmt: skip
    else:
        session.lake.add(replace(relation, properties=change(relation.properties)))


def _read_properties(text: str) -> dict[str, str]:
    tree = parsed(f"create table t (x int) using delta tblproperties ({text})")
    return _properties(tree.args["properties"].expressions)


def _add_columns(session: Session, found: re.Match[str]) -> None:
    table = session.lake.delta(session.name(found["name"]))
    tree = parsed(f"create table t ({found['columns']})")
    added = [Field(c.name, c.args["kind"].sql("spark").lower()) for c in tree.this.expressions]
    nulls = ", ".join(f"cast(null as {_type(f)}) as {identifier(f.name)}" for f in added)
    _new_columns(session, table, "ADD COLUMNS", f"*, {nulls}", (*table.newest.fields, *added))


def _drop_column(session: Session, found: re.Match[str]) -> None:
    table = session.lake.delta(session.name(found["name"]))
    gone = found["column"].strip("`")
    kept = tuple(f for f in table.newest.fields if f.name.lower() != gone.lower())
    parameters = {"columns": json.dumps([gone])}
    _new_columns(session, table, "DROP COLUMNS", _listed(kept), kept, parameters)


def _rename_column(session: Session, found: re.Match[str]) -> None:
    table = session.lake.delta(session.name(found["name"]))
    old, new = found["column"].strip("`"), found["new"].strip("`")
    fields = tuple(replace(f, name=new) if f.name.lower() == old.lower() else f for f in table.newest.fields)
    items = ", ".join(
        f"{identifier(was.name)} as {identifier(now.name)}"
        for was, now in zip(table.newest.fields, fields, strict=True)
    )
    parameters = {"oldColumnPath": old, "newColumnPath": new}
    _new_columns(session, table, "RENAME COLUMN", items, fields, parameters)


def _change_type(session: Session, found: re.Match[str]) -> None:
    table = session.lake.delta(session.name(found["name"]))
    wanted = found["column"].strip("`").lower()
    fields = tuple(
        replace(f, type=found["type"].lower()) if f.name.lower() == wanted else f for f in table.newest.fields
    )
    items = ", ".join(f"cast({identifier(f.name)} as {_type(f)}) as {identifier(f.name)}" for f in fields)
    _new_columns(session, table, "CHANGE COLUMN", items, fields)


def _new_columns(
    session: Session,
    table: DeltaTable,
    operation: str,
    items: str,
    fields: tuple[Field, ...],
    parameters: Mapping[str, str] | None = None,
) -> None:
    content = session.lake.database.content(f"select {items} from {table.newest.content}")
    version = _commit(session, table, operation, fields=fields, parameters=parameters)
    table.change(version.number, content=content)


def _listed(fields: Sequence[Field]) -> str:
    return ", ".join(identifier(f.name) for f in fields)


def _comment(session: Session, found: re.Match[str]) -> None:
    _commit(session, session.lake.delta(session.name(found["name"])), "SET TABLE COMMENT")


def _optimize(session: Session, found: re.Match[str]) -> None:
    _commit(
        session, session.lake.delta(session.name(found["name"])), "OPTIMIZE", metrics={"numRemovedFiles": 2}
    )


def _vacuum(session: Session, found: re.Match[str]) -> None:
    """All files that the newest version does not need."""
    table = session.lake.delta(session.name(found["name"]))
    newest = table.newest
    for version in table.versions:
        if version.content != newest.content:
            table.change(version.number, has_files=False)
    for operation in ("VACUUM START", "VACUUM END"):
        _commit(session, table, operation)


def _restore(session: Session, found: re.Match[str]) -> None:
    table, database = session.lake.delta(session.name(found["name"])), session.lake.database
    to, old = table.at(int(found["version"])), table.newest.content
    feed = {
        "delete": f"select * from {old} except all select * from {to.content}",
        "insert": f"select * from {to.content} except all select * from {old}",
    }
    same = to.fields == table.newest.fields
    version = _commit(
        session, table, "RESTORE", database.content(f"select * from {to.content}"), fields=to.fields,
        properties=to.properties, parameters={"version": str(to.number)},
        changes=_changes(session, feed) if same else None,
    )  # fmt: skip
    table.change(version.number, table_id=to.table_id)


def _nothing(session: Session, found: re.Match[str]) -> None:
    """A statement that nobody sees a result of."""


def _pattern(text: str) -> re.Pattern[str]:
    """`{x}` is a name, a blank any white space."""
    text = re.sub(r"{(\w+)}", lambda found: f"(?P<{found[1]}>(?:`[^`]*`|[^\\s(`]+)+)", text)
    return re.compile(re.sub(r" (?!\?)", r"\\s+", text).replace(" ?", r"\s*"), re.IGNORECASE | re.DOTALL)


_BY_TEXT: Sequence[tuple[re.Pattern[str], Callable[[Session, re.Match[str]], Rows | None]]] = (
    (_pattern(r"cache (?:lazy )?table {name}(?: options \([^)]*\))?(?: as (?P<select>.*))?"), _cache),
    (_pattern(r"create global temporary view {name} as (?P<select>.*)"), _keep),
    (_pattern(r"drop (?P<kind>table|view) (?P<if_exists>if exists )?{name}"), _drop),
    (_pattern(r"alter (?:table|view) {name} rename to {new}"), _rename),
    (_pattern(r"alter (?:table|view) {name} set tblproperties ?\((?P<properties>.*)\)"), _set_properties),
    (
        _pattern(r"alter (?:table|view) {name} unset tblproperties if exists ?\((?P<names>.*)\)"),
        _unset_properties,
    ),
    (_pattern(r"alter table {name} add columns? ?\((?P<columns>.*)\)"), _add_columns),
    (_pattern(r"alter table {name} drop column {column}"), _drop_column),
    (_pattern(r"alter table {name} rename column {column} to {new}"), _rename_column),
    (_pattern(r"alter table {name} alter column {column} type {type}"), _change_type),
    (_pattern(r"comment on table {name} is .*"), _comment),
    (_pattern(r"optimize {name}"), _optimize),
    (_pattern(r"vacuum {name}.*"), _vacuum),
    (_pattern(r"restore table {name} to version as of (?P<version>\d+)"), _restore),
    (_pattern(r"refresh table {name}"), _nothing),
    (_pattern(r"set (?P<name>[\w.`]+) ?= ?(?P<value>.*)"), _set),
    (_pattern(r"use {name}"), _use),
)
_BY_TREE: Mapping[type[exp.Expression], Callable[[Session, Any], Rows | None]] = {
    exp.Create: _create,
    exp.Insert: _insert,
    exp.Delete: _delete,
    exp.Update: _update,
    exp.Merge: _merge,
    exp.TruncateTable: _truncate,
}


def _refused(condition: str, text: str) -> EngineError:
    return EngineError(f"[{condition}] {text}", condition)
