"""Plain views are replaced by their text. Does Spark read this text as it reads the view?

Spark stores a view's column types and settings. If a table below has other types now, Spark casts the values,
and it reads the text under the stored settings. If either makes a difference, we do not replace the view
(tests/spark/test_views_as_sources.py).
"""

from __future__ import annotations

from sparkivm.engine import Engine, EngineError, RelationFacts, is_as_written
from sparkivm.errors import NotIncremental
from sparkivm.frontend.accepted_expressions import repeatable
from sparkivm.frontend.parse import parse_model
from sparkivm.frontend.place import not_understood
from sparkivm.frontend.table_references import references_in, replace_references
from sparkivm.refresh.model.gate import check_text_is_understood
from sparkivm.refresh.session.session_settings import otherwise_in
from sparkivm.refresh.sources.source_catalog import SourceCatalog

_PLAIN = ("", "UTF8_BINARY")  # collations of literals and casts that the compiler assumes


def check_view_is_understood(engine: Engine, view: RelationFacts, catalog: SourceCatalog) -> None:
    """Raises: NotIncremental if Spark reads the text differently, or casts its columns."""
    if view.view_collation not in _PLAIN:
        raise _unclear(view, f"its default collation is {view.view_collation}; create it again without one")
    others = otherwise_in(engine, view.view_settings)
    if others:
        raise _unclear(view, f"it was created with {', '.join(others)}, unlike this session; create it again")
    if not is_as_written(view.view_settings, view.view_text):
        raise _unclear(view, "Spark inserts values for ${…} in its text; create it again with the values")
    text = _named_in_full(view, catalog)
    if text is None:
        raise _unclear(view, "its tables cannot be determined from its text")
    try:
        check_text_is_understood(engine, text, parse_model(view.name, text))
    except NotIncremental as error:
        raise _unclear(view, error.fallback.detail) from None
    if not _has_types_of(engine, text, view):
        raise _unclear(view, "types of a table below changed since it was created; create it again")


def is_what_its_text_says(engine: Engine, view: RelationFacts, catalog: SourceCatalog) -> bool:
    """Whether the text can replace the view: it depends on tables alone, under the session's settings."""
    text = _named_in_full(view, catalog)
    return (
        text is not None
        and view.view_collation in _PLAIN
        and repeatable(parse_model(view.name, text))
        and is_as_written(view.view_settings, view.view_text)
        and not otherwise_in(engine, view.view_settings)
        and _has_types_of(engine, text, view)
    )


def _has_types_of(engine: Engine, text: str, view: RelationFacts) -> bool:
    try:
        found = engine.schema_of(text)
    except EngineError:
        return False
    return [f.type for f in found] == [f.type for f in view.fields]


def _named_in_full(view: RelationFacts, catalog: SourceCatalog) -> str | None:
    """The text of a view for a session in another schema; None if its tables are unclear."""
    references = references_in(view.name, view.view_text)
    if references is None:
        return None
    return replace_references(
        view.view_text,
        references,
        lambda reference: catalog.qualified(reference.parts, view.view_namespace).sql,
    )


def _unclear(view: RelationFacts, what: str) -> NotIncremental:
    return not_understood(f"the view {view.name}: {what}")
