"""The relations that are kept for a view, found by their markers, and how they are dropped."""

from __future__ import annotations

from collections.abc import Callable, Iterator, MutableSequence
from dataclasses import replace

from sparkivm.engine import Engine, RelationFacts
from sparkivm.marker import Marker, read_marker
from sparkivm.names import STATE_SUFFIX, TableName

_SHORTEST_STEM = 200  # bytes of a name that every name made of it begins with, however long it is


def relations_kept_for(
    engine: Engine, view: TableName, is_wanted: Callable[[Marker], bool]
) -> Iterator[tuple[RelationFacts, Marker]]:
    """Relations in the view's schema whose names begin with the view's, and whose marker is wanted."""
    stem = view.identifier.encode()[:_SHORTEST_STEM].decode(errors="ignore")
    if stem == view.identifier:
        stem += STATE_SUFFIX
    for name in (view, *engine.names_like(replace(view, identifier=stem))):
        facts = engine.describe(name)
        marker = read_marker(facts.properties) if facts is not None else None
        if facts is not None and marker is not None and is_wanted(marker):
            yield facts, marker


def drop_own(engine: Engine, relation: RelationFacts, statements: MutableSequence[str]) -> None:
    """Drop a relation whose marker was looked at."""
    kind = "view" if relation.kind == "view" else "table"
    statements.append(engine.render(f"drop_own_{kind}", **{kind: relation.name.sql}))
    engine.execute(statements[-1])
