"""The relations that a model of the project would be built as."""

from __future__ import annotations

from sparkivm.changes.state_columns import as_stored
from sparkivm.check.project_engine import ProjectEngine
from sparkivm.engine import Field, RelationFacts
from sparkivm.names import TableName
from sparkivm.refresh.model.compiled_view import CompiledView
from sparkivm.refresh.public_view import public_texts
from sparkivm.refresh.request import RefreshRequest
from sparkivm.refresh.session.session_settings import semantic_settings


def table_of(name: TableName, fields: tuple[Field, ...], format: str) -> RelationFacts:
    """A table with these columns.

    format  of its files: one without versions leads to a mirror
    """
    format = format.lower()
    if format == "delta":
        return RelationFacts(name, "delta", fields, provider=format)
    if format == "iceberg":
        return RelationFacts(name, "iceberg", fields, provider=format)
    return RelationFacts(name, "other", fields, provider=format)


def view_of(engine: ProjectEngine, name: TableName, text: str, fields: tuple[Field, ...]) -> RelationFacts:
    return RelationFacts(
        name,
        "view",
        fields,
        view_text=text,
        view_namespace=engine.namespace(),
        view_settings=semantic_settings(engine),
    )


def incremental_view_of(
    engine: ProjectEngine, request: RefreshRequest, compiled: CompiledView
) -> tuple[RelationFacts, ...]:
    """The public view and its state."""
    columns = as_stored(compiled.columns, request.format.stored)
    if compiled.plan is None or not all(type_ for _, type_, _ in columns):
        return (table_of(request.view, compiled.fields, request.layout.file_format),)
    stored = tuple(Field(name, type_) for name, type_, _ in columns)
    text, _ = public_texts(compiled, request)
    return (
        view_of(engine, request.view, text, compiled.fields),
        table_of(request.state, stored, request.layout.file_format),
    )
