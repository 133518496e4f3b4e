"""The catalog for the frontend: tables with versions and mirrors are sources, views are inlined."""

from __future__ import annotations

from collections.abc import Mapping

from sparkivm.changes.frontier import Frontier, SourceFrontier
from sparkivm.digest import digest
from sparkivm.engine import RelationFacts
from sparkivm.errors import ModelError, NotIncremental
from sparkivm.formats import format_of
from sparkivm.names import TableName, name_of
from sparkivm.reasons import Reason
from sparkivm.refresh.session.session_settings import decisive
from sparkivm.refresh.sources.sources import Sources

_SESSION_CATALOG = "spark_catalog"


class SourceCatalog:
    """Looks names up and remembers what it found."""

    def __init__(
        self, sources: Sources, model: TableName, state: TableName, versions: Mapping[str, SourceFrontier]
    ) -> None:
        """versions  of tables, by their keys, to read instead of the newest ones"""
        self._sources, self._model, self._versions = sources, model, versions
        self._own = {model.key, state.key}  # a model must not read itself
        self.resolved: dict[str, str] = {}  # as in a frontier
        self.tables: dict[str, RelationFacts] = {}
        self.views: dict[str, RelationFacts] = {}
        self._keys: dict[TableName, str] = {}  # of the relations found, by their names

    def lookup(self, parts: tuple[str, ...], namespace: tuple[str, ...]) -> RelationFacts:
        name = self.qualified(parts, namespace)
        if "/" in parts[-1]:
            what = f"{'.'.join(parts)} is a path, which has no versions; read it through a view"
            raise NotIncremental(Reason.SOURCE_NOT_SUPPORTED, what)
        facts = self.facts(name)
        self._keys[name] = facts.key
        if not namespace and len(parts) < 3:
            self.resolved[""] = self._sources.current[0]
            if len(parts) == 1:
                self.resolved[parts[0].lower()] = facts.key
        if facts.kind == "view":
            if facts.temporary:
                raise NotIncremental(Reason.SOURCE_NOT_SUPPORTED, f"{name} is a temporary view")
            self.views[facts.key] = facts
        elif facts.kind == "other":
            what = f"{name} is stored as {facts.provider or 'an unknown format'}, which has no versions"
            raise NotIncremental(Reason.SOURCE_NOT_SUPPORTED, what)
        else:
            self.tables[facts.key] = facts
        return facts

    def facts(self, name: TableName) -> RelationFacts:
        """The relation of a name. The same facts each time: another look may find newer versions.

        Raises: ModelError if the relation is missing, or is the view itself.
        """
        if (seen := self._seen(self._keys.get(name, ""))) is not None:
            return seen
        facts = self._sources.facts(name) if name.key not in self._own else None
        if name.key in self._own or (facts is not None and facts.key in self._own):
            raise ModelError(self._model, f"the model reads itself, as {name}", "read its sources instead")
        if facts is None:
            what = f"there is no table or view {name}"
            raise ModelError(self._model, what, "create it, or correct the name")
        if (seen := self._seen(facts.key)) is not None:  # under another spelling of its name
            return seen
        known = self._versions.get(facts.key)
        return facts if known is None else format_of(facts).at(facts, known)

    def _seen(self, key: str) -> RelationFacts | None:
        return self.tables.get(key) or self.views.get(key)

    def qualified(self, parts: tuple[str, ...], namespace: tuple[str, ...]) -> TableName:
        """The relation of a name in a session or view with a current catalog and schema.

        Raises: NotIncremental for a relation of `spark_catalog` if the session's catalog is another one: keys
        name neither catalog, so the two could be confused.
        """
        catalog = parts[0] if len(parts) == 3 else namespace[0] if len(namespace) > 1 else None
        if catalog in (None, self._sources.current[0]):
            catalog = None
        elif catalog == _SESSION_CATALOG:
            name = ".".join(parts)
            what = f"{name} is in {catalog}, but the session's catalog is {self._sources.current[0]}"
            raise NotIncremental(Reason.SOURCE_NOT_SUPPORTED, what)
        schema = parts[-2] if len(parts) > 1 else namespace[-1] if namespace else ""
        return TableName(schema, parts[-1], catalog)


def has_same_meaning(sources: Sources, frontier: Frontier) -> bool:
    """Whether an unchanged text refers to the same relations and plain views as at the frontier."""
    if not sources.resolve(frontier.resolved):
        return False
    found = {key: sources.known(name_of(key)) for key in frontier.views}
    return all(
        facts is not None and facts.kind == "view" and view_hash(facts) == frontier.views[key]
        for key, facts in found.items()
    )


def view_hash(facts: RelationFacts) -> str:
    """A hash of a view's meaning: its text, current schema, columns, settings and default collation."""
    settings = sorted(decisive(facts.view_settings).items())
    if facts.view_collation:
        settings.append(("default collation", facts.view_collation))
    return digest(repr((facts.view_text, facts.view_namespace, columns_hash(facts), settings)))


def columns_hash(facts: RelationFacts) -> str:
    """A hash of a relation's columns in order."""
    return digest(repr([(field.name, field.stored_type) for field in facts.fields]))
