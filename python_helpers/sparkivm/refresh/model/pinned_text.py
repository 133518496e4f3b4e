"""The model's own text, each source in it at a version: for a full refresh and for the consistency test."""

from __future__ import annotations

from sqlglot import exp

from sparkivm.algebra.spark_text import SparkText
from sparkivm.frontend.chosen_rows import with_chosen_rows
from sparkivm.frontend.parse import parse_model, statement_end
from sparkivm.frontend.stars import has_star
from sparkivm.frontend.table_references import TableReference, replace_references, table_references
from sparkivm.names import quoted
from sparkivm.refresh.model.compiled_view import CompiledView


def pinned_text(sql: str, compiled: CompiledView) -> str | None:
    """The model's own text with every source at its target version; None if its tables are unclear.

    If the view has a plan, FIRST and similar functions take the plan's rows.
    """
    if compiled.tree is None or compiled.catalog is None or not compiled.complete:
        return None
    return _pinned(sql, compiled.tree, (), compiled)


def may_read_later_rows(sql: str, compiled: CompiledView) -> bool:
    """Whether a full view reads the newest rows of its sources, and a source may go back to older ones.

    Versions of Delta tables only grow. An Iceberg table can be rolled back, and a mirrored source may get its
    former rows again.
    """
    if compiled.plan is not None or pinned_text(sql, compiled) is not None:
        return False
    return any(facts.kind == "iceberg" or facts.mirror_of is not None for facts in compiled.tables.values())


def _pinned(sql: str, tree: exp.Expr, namespace: tuple[str, ...], compiled: CompiledView) -> str | None:
    catalog, has_plan = compiled.catalog, compiled.plan is not None
    assert catalog is not None, "the names of a complete view were looked up"
    chosen = with_chosen_rows(tree) if has_plan else tree
    if chosen is not tree:
        sql = chosen.sql(dialect=SparkText)
        tree = parse_model("query", sql)
    sql = sql[: statement_end(sql)].replace("\ufeff", " ")
    references = table_references(tree)
    if references is None:
        return None
    unknown = False
    # `schema.t.c` cannot name a column of what replaces the table t.
    by_schema = any(column.args.get("db") for column in tree.find_all(exp.Column))

    def text_of(reference: TableReference) -> str | None:
        nonlocal unknown
        if reference.fixed:
            return None
        name = catalog.qualified(reference.parts, namespace)
        facts = catalog.facts(name)
        facts = compiled.tables.get(facts.key, facts)
        alias = "" if reference.aliased else f" as {quoted(reference.parts[-1])}"
        if facts.has_versions and facts.mirror_of is None and not facts.read_as:
            return facts.pinned
        if alias and by_schema:
            unknown = True
            return None
        if facts.has_versions:
            return f"{facts.pinned}{alias}"
        if facts.kind == "view":
            body = parse_model(name, facts.view_text)
            inner = None
            # Spark matches a view's columns by name; a star may have them in another order.
            if has_plan or not has_star(body):
                inner = _pinned(facts.view_text, body, facts.view_namespace, compiled)
            if inner is None:
                unknown = True
                return None
            columns = ", ".join(quoted(f.name) for f in facts.fields)
            return f"(select * from (\n{inner}\n) as inlined ({columns})){alias}"
        return None

    text = replace_references(sql, references, text_of)
    return None if unknown else text
