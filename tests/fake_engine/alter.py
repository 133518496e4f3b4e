"""ALTER, OPTIMIZE, VACUUM, RESTORE: commits that leave rows unchanged, or restore former rows."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from sparkivm.engine import Field
from sparkivm.names import TableName
from tests.fake_engine.catalog import declared_properties
from tests.fake_engine.commits import commit, feed_of, refused, without_transaction
from tests.fake_engine.database import duckdb_type, identifier, parsed
from tests.fake_engine.delta_table import FEED, MAPPING, DeltaTable
from tests.fake_engine.lake import already_there
from tests.fake_engine.session import Session


def set_properties(session: Session, found: re.Match[str]) -> None:
    changed = _read_properties(found["properties"])
    _change_properties(session, session.name(found["name"]), "SET", changed, lambda now: {**now, **changed})


def unset_properties(session: Session, found: re.Match[str]) -> None:
    gone = [one.strip("' ") for one in found["names"].split(",")]
    _change_properties(
        session,
        session.name(found["name"]),
        "UNSET",
        gone,
        lambda now: {k: v for k, v in now.items() if k not in gone},
    )


def clone(session: Session, found: re.Match[str]) -> None:
    name, origin = session.name(found["name"]), session.lake.delta(session.name(found["origin"]))
    if name.key in session.lake.relations:
        raise already_there(name)
    version, database = origin.at(int(found["version"])), session.lake.database
    properties = {**version.properties, **_read_properties(found["properties"] or "")}
    if properties.get(MAPPING, "none") != "none" and properties.get(FEED, "").lower() == "true":
        raise refused("DELTA_BLOCK_COLUMN_MAPPING_AND_CDC_OPERATION", "not in one statement")
    table = DeltaTable(name, partition_columns=origin.partition_columns)
    with without_transaction(session):
        commit(
            session, table, "CLONE", database.content(f"select * from {version.content}", version.fields),
            fields=version.fields, properties=properties, new_id=True,
        )  # fmt: skip
    session.lake.add(table)


def _change_properties(
    session: Session,
    name: TableName,
    word: str,
    parameters: object,
    change: Callable[[Mapping[str, str]], dict[str, str]],
) -> None:
    relation = session.lake.find(name)
    if isinstance(relation, DeltaTable):
        commit(
            session, relation, f"{word} TBLPROPERTIES", properties=change(relation.newest.properties),
            parameters={"properties": json.dumps(parameters)},
        )  # fmt: skip
    else:
        session.lake.add(replace(relation, properties=change(relation.properties)))


def _read_properties(text: str) -> dict[str, str]:
    tree = parsed(f"create table t (x int) using delta tblproperties ({text})")
    return declared_properties(tree.args["properties"].expressions)


def add_columns(session: Session, found: re.Match[str]) -> None:
    table = session.lake.delta(session.name(found["name"]))
    tree = parsed(f"create table t ({found['columns']})")
    added = [Field(c.name, c.args["kind"].sql("spark").lower()) for c in tree.this.expressions]
    nulls = ", ".join(f"cast(null as {duckdb_type(f.type)}) as {identifier(f.name)}" for f in added)
    _new_columns(session, table, "ADD COLUMNS", f"*, {nulls}", (*table.newest.fields, *added))


def drop_column(session: Session, found: re.Match[str]) -> None:
    table = session.lake.delta(session.name(found["name"]))
    _check_mapping(table, "DELTA_UNSUPPORTED_DROP_COLUMN")
    gone = found["column"].strip("`")
    kept = tuple(f for f in table.newest.fields if f.name.lower() != gone.lower())
    parameters = {"columns": json.dumps([gone])}
    _new_columns(session, table, "DROP COLUMNS", _listed(kept), kept, parameters)


def rename_column(session: Session, found: re.Match[str]) -> None:
    table = session.lake.delta(session.name(found["name"]))
    _check_mapping(table, "DELTA_UNSUPPORTED_RENAME_COLUMN")
    old, new = found["column"].strip("`"), found["new"].strip("`")
    fields = tuple(replace(f, name=new) if f.name.lower() == old.lower() else f for f in table.newest.fields)
    items = ", ".join(
        f"{identifier(was.name)} as {identifier(now.name)}"
        for was, now in zip(table.newest.fields, fields, strict=True)
    )
    parameters = {"oldColumnPath": old, "newColumnPath": new}
    _new_columns(session, table, "RENAME COLUMN", items, fields, parameters)


def change_type(session: Session, found: re.Match[str]) -> None:
    table = session.lake.delta(session.name(found["name"]))
    wanted = found["column"].strip("`").lower()
    fields = tuple(
        replace(f, type=found["type"].lower()) if f.name.lower() == wanted else f for f in table.newest.fields
    )
    items = ", ".join(
        f"cast({identifier(f.name)} as {duckdb_type(f.type)}) as {identifier(f.name)}" for f in fields
    )
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
    version = commit(session, table, operation, fields=fields, parameters=parameters)
    table.change(version.number, content=content)


def _check_mapping(table: DeltaTable, condition: str) -> None:
    if table.newest.properties.get(MAPPING, "none").lower() == "none":
        raise refused(condition, f"{table.name} does not map its columns")


def _listed(fields: Sequence[Field]) -> str:
    return ", ".join(identifier(f.name) for f in fields)


def move_first(session: Session, found: re.Match[str]) -> None:
    table = session.lake.delta(session.name(found["name"]))
    wanted = found["column"].strip("`").lower()
    fields = tuple(sorted(table.newest.fields, key=lambda f: f.name.lower() != wanted))
    _new_columns(session, table, "CHANGE COLUMN", _listed(fields), fields)


def comment_on(session: Session, found: re.Match[str]) -> None:
    parameters = {"properties": '{"comment":"some words"}'}
    commit(
        session, session.lake.delta(session.name(found["name"])), "SET TBLPROPERTIES", parameters=parameters
    )


def optimize(session: Session, found: re.Match[str]) -> None:
    commit(
        session, session.lake.delta(session.name(found["name"])), "OPTIMIZE", metrics={"numRemovedFiles": 2}
    )


def vacuum(session: Session, found: re.Match[str]) -> None:
    """Delete all files that the newest version does not need."""
    table = session.lake.delta(session.name(found["name"]))
    newest = table.newest
    for version in table.versions:
        if version.content != newest.content:
            table.change(version.number, has_files=False)
    for operation in ("VACUUM START", "VACUUM END"):
        commit(session, table, operation)


def restore(session: Session, found: re.Match[str]) -> None:
    table, database = session.lake.delta(session.name(found["name"])), session.lake.database
    to, old = table.at(int(found["version"])), table.newest.content
    feed = {
        "delete": f"select * from {old} except all select * from {to.content}",
        "insert": f"select * from {to.content} except all select * from {old}",
    }
    same = to.fields == table.newest.fields
    version = commit(
        session, table, "RESTORE", database.content(f"select * from {to.content}"), fields=to.fields,
        properties=to.properties, parameters={"version": str(to.number)},
        changes=feed_of(session, feed) if same else None,
    )  # fmt: skip
    table.change(version.number, table_id=to.table_id)
