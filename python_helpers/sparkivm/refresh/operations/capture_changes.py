"""Makes a source record its changes before a view needs them, or drops its mirror."""

from __future__ import annotations

from sparkivm.changes.source_declaration import DeclaredSources
from sparkivm.engine import Engine, RelationFacts
from sparkivm.errors import DeclarationError, NotIncremental
from sparkivm.formats import format_of
from sparkivm.formats.delta import CHANGE_FEED
from sparkivm.formats.state_format import StateFormat
from sparkivm.names import TableName
from sparkivm.refresh.session.recording_engine import RecordingEngine
from sparkivm.refresh.sources.pins import Pins
from sparkivm.refresh.sources.sources import Sources, is_mirrored
from sparkivm.refresh.stored.commit import Conflict


def capture_changes(
    engine: Engine,
    name: TableName,
    declared: DeclaredSources,
    home: str,
    format: StateFormat,
    *,
    remove: bool = False,
) -> str:
    """Create or update a source's mirror, or switch on the feed of a Delta table; or `remove` a mirror.

    format  of a new mirror
    Returns: what was done, for the console.
    Raises: DeclarationError if it cannot be done.
    """
    recording = RecordingEngine(engine)
    sources = Sources(recording, Pins(), declared, home, format)
    source = engine.describe(name)
    if remove:
        return sources.mirror(source or RelationFacts(name, "other", ())).removed()
    if source is None:
        raise DeclarationError(name, "there is no such table or view", "create it, or correct the name")
    if not is_mirrored(source, declared):
        return _switched_on(engine, source)
    mirror = sources.mirror(source)
    try:
        facts = mirror.captured()
    except NotIncremental as error:
        raise DeclarationError(name, str(error), error.fallback.reason.way_out) from error
    except Conflict as error:
        raise DeclarationError(name, str(error), "run the command again") from error
    mirror.set_retention(facts)
    lines = [*recording.warnings, f"{name} is mirrored by {facts.name}, version {facts.version}"]
    return "\n".join(lines)


def _switched_on(engine: Engine, source: RelationFacts) -> str:
    if source.kind == "view":
        return f"{source.name} is a view; incremental views read the tables below it"
    if source.kind == "other":
        return f"{source.name} is declared to have no mirror"
    if format_of(source).records_changes(source):
        return f"{source.name} is {source.is_a} and records its changes"
    engine.execute(engine.render("enable_change_capture", table=source.name.sql))
    return f"{source.name} records its changes from now on ({CHANGE_FEED} = true)"
