"""INSERT, DELETE, UPDATE, MERGE and TRUNCATE: rows, metrics and feed as Delta has them."""

from __future__ import annotations

import json
from dataclasses import replace

from sqlglot import exp

from sparkivm.engine import EngineError, Field
from tests.fake_engine.catalog import named_in
from tests.fake_engine.commits import Rows, commit, count_rows, feed_of, is_skipped, refused, transaction_of
from tests.fake_engine.database import duckdb_type, identifier, parsed, template
from tests.fake_engine.delta_table import DeltaTable
from tests.fake_engine.lake import OtherTable, Relation
from tests.fake_engine.session import Session


def insert(session: Session, tree: exp.Expression) -> None:
    schema = tree.this
    columns = [c.name for c in schema.expressions] if isinstance(schema, exp.Schema) else []
    name = named_in(session, schema.this if isinstance(schema, exp.Schema) else schema)
    relation, database = session.lake.find(name), session.lake.database
    rows = session.filled(template(tree.expression))
    if isinstance(relation, DeltaTable) and is_skipped(session, relation):
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
        raise refused("DELTA_REPLACE_WHERE_MISMATCH", f"a row does not match {where}")
    content = database.content(f"select * from {old} where not ({where}) union all select * from {came}")
    if not isinstance(relation, DeltaTable):
        _replace_content(session, relation, content)
        return
    gone = f"select * from {old} where {where}"
    metrics: dict[str, object] = {"numOutputRows": count_rows(session, came)}
    parameters: dict[str, object] = {"mode": "Overwrite" if overwrite or part is not None else "Append"}
    if part is not None:
        metrics |= {"numDeletedRows": len(database.rows(gone)), "numCopiedRows": 0}
        parameters["predicate"] = json.dumps([part.sql("spark")])
    commit(
        session, relation, "WRITE", content, metrics=metrics, parameters=parameters,
        changes=feed_of(session, {"delete": gone, "insert": f"select * from {came}"}),
    )  # fmt: skip


def _overwritten(session: Session, relation: Relation, came: str) -> str:
    """The rows that INSERT OVERWRITE removes."""
    partitions = relation.partition_columns if isinstance(relation, DeltaTable) else ()
    if not partitions or session.setting("spark.sql.sources.partitionOverwriteMode") != "dynamic":
        return "true"
    names = ", ".join(map(identifier, partitions))
    return f"({names}) in (select ({names}) from {came})"


def delete(session: Session, tree: exp.Expression, operation: str = "DELETE") -> None:
    relation, database = session.lake.find(named_in(session, tree.this)), session.lake.database
    if isinstance(relation, DeltaTable) and is_skipped(session, relation):
        return
    old, _ = _content(relation)
    where = f"coalesce({_expression(session, tree.args.get('where'))}, false)"
    gone = database.rows(f"select 1 from {old} where {where}")
    content = database.content(f"select * from {old} where not {where}")
    if not isinstance(relation, DeltaTable):
        _replace_content(session, relation, content)
    elif gone or transaction_of(session):
        commit(
            session, relation, operation, content,
            metrics={"numDeletedRows": len(gone)} if operation == "DELETE" else {},
            changes=feed_of(session, {"delete": f"select * from {old} where {where}"}),
        )  # fmt: skip


def update(session: Session, tree: exp.Expression) -> None:
    relation, database = session.lake.find(named_in(session, tree.this)), session.lake.database
    if isinstance(relation, DeltaTable) and is_skipped(session, relation):
        return
    old, fields = _content(relation)
    where = f"coalesce({_expression(session, tree.args.get('where'))}, false)"
    new = {e.this.name.lower(): _expression(session, e.expression) for e in tree.expressions}
    values = ", ".join(
        f"cast({new.get(f.name.lower(), identifier(f.name))} as {duckdb_type(f.type)}) as {identifier(f.name)}"
        for f in fields
    )
    before, after = f"select * from {old} where {where}", f"select {values} from {old} where {where}"
    content = database.content(f"select * from {old} where not {where} union all {after}")
    if not isinstance(relation, DeltaTable):
        _replace_content(session, relation, content)
        return
    updated = len(database.rows(before))
    if updated or transaction_of(session):
        commit(
            session, relation, "UPDATE", content, metrics={"numUpdatedRows": updated},
            changes=feed_of(session, {"update_preimage": before, "update_postimage": after}),
        )  # fmt: skip


def merge(session: Session, tree: exp.Expression) -> Rows:
    table, database = session.lake.delta(named_in(session, tree.this)), session.lake.database
    if is_skipped(session, table):
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
            assigned.this.set("table", None)  # in the embedded engine, the target has no name there
    merge = tree.sql("duckdb")
    if " UPDATE " in merge:
        twice = database.rows(
            f"select 1 from {content} as {target} join {tree.args['using'].sql('duckdb')} "
            f"on {tree.args['on'].sql('duckdb')} group by {target}.rowid having count(*) > 1"
        )
        if twice:
            raise refused("DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE", str(table.name))
    done = [row["merge_action"] for row in database.rows(f"{merge} returning merge_action")]
    counts = {word: done.count(word.upper()) for word in ("insert", "update", "delete")}
    if done or transaction_of(session):
        new = f"select * from {content}"
        feed = {
            "delete": f"select * from {old} except all {new}",
            "insert": f"{new} except all select * from {old}",
        }
        metrics = {
            f"numTargetRows{word.title()}{'ed' if word == 'insert' else 'd'}": n for word, n in counts.items()
        }
        commit(session, table, "MERGE", content, metrics=metrics, changes=feed_of(session, feed))
    return [{"num_affected_rows": len(done)}]


def _named(table: str, alias: str) -> exp.Table:
    return exp.Table(this=exp.to_identifier(table), alias=exp.TableAlias(this=exp.to_identifier(alias)))


def truncate(session: Session, tree: exp.Expression) -> None:
    delete(session, parsed(f"delete from {tree.expressions[0].sql('spark')} where true"), "TRUNCATE")


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
