"""Would a model be incremental as an `incremental_view`?

tested  tests/check/test_check_model.py
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from sparkivm.check.built_as import incremental_view_of
from sparkivm.check.project_engine import ProjectEngine
from sparkivm.engine import RelationFacts
from sparkivm.errors import ModelError, NotIncremental
from sparkivm.frontend.parse import parse_model
from sparkivm.names import TableName
from sparkivm.reasons import Fallback
from sparkivm.refresh.model.compiled_view import compile_view
from sparkivm.refresh.model.model_query import check_is_query, query_text
from sparkivm.refresh.model.state_layout import check_catalog
from sparkivm.refresh.request import RefreshRequest
from sparkivm.refresh.sources.pins import Pins
from sparkivm.refresh.sources.sources import Sources


@dataclass(frozen=True)
class Checked:
    """What a check finds.

    fallback   why each refresh would be full; None if the view would be incremental
    mirrored   sources that it would read through mirrors
    relations  that it would be built as; none if they cannot be known
    """

    fallback: Fallback | None
    mirrored: tuple[TableName, ...] = ()
    relations: tuple[RelationFacts, ...] = ()


def check_model(engine: ProjectEngine, pins: Pins, request: RefreshRequest) -> Checked:
    """Compile a model as a refresh would.

    pins  shared by the checks of one invocation
    Raises: ModelError if the model cannot be a view, its state cannot be stored as its options say, or it
    reads what does not exist; DeclarationError; EngineError.
    """
    view = request.view
    sources = Sources.of(engine, pins, request, captures=False)
    request = replace(request, sql=sources.model_text(view, query_text(engine, view, request.sql)))
    check_is_query(engine, view, request.sql, None)
    check_catalog(engine, request, None)
    unread = request.header.fallback or _unread(view, request.sql)
    try:
        compiled = compile_view(engine, sources, request)
    except ModelError:
        if unread is None:
            raise
        return Checked(unread)  # Spark may know all names when the view is built
    mirrored = tuple(facts for facts in compiled.tables.values() if facts.mirror_of is not None)
    return Checked(
        compiled.fallback or _not_mirrored(sources, mirrored),
        tuple(facts.source for facts in mirrored),
        incremental_view_of(engine, request, compiled),
    )


def _unread(view: TableName, sql: str) -> Fallback | None:
    """Why the parser cannot read a text."""
    try:
        parse_model(view, sql)
    except NotIncremental as error:
        return error.fallback
    return None


def _not_mirrored(sources: Sources, mirrored: Iterable[RelationFacts]) -> Fallback | None:
    """Why a source cannot have a mirror."""
    for facts in mirrored:
        if facts.name != facts.source:  # its mirror exists
            continue
        try:
            sources.mirror(facts).check_new(facts.fields)
        except NotIncremental as error:
            return error.fallback
    return None
