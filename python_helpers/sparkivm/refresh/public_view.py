"""The view that users read: a SELECT over the state, with the model's description as its comment."""

from __future__ import annotations

from functools import partial
from itertools import count

from sparkivm.changes.frontier import Frontier
from sparkivm.digest import digest
from sparkivm.engine import Field, RelationFacts
from sparkivm.formats.state_format import StateFormat
from sparkivm.marker import PROPERTIES, STATE_CATALOG, Marker, Owner, Role, read_marker, shown, state_catalog
from sparkivm.names import MOST_NUMBERED, TableName, name_aside, quoted, state_table
from sparkivm.reasons import Fallback, Reason
from sparkivm.refresh.model.compiled_view import CompiledView
from sparkivm.refresh.request import RefreshRequest
from sparkivm.refresh.session.recording_engine import RecordingEngine
from sparkivm.refresh.sources.sources import Sources
from sparkivm.refresh.stored.ownership import in_the_way, is_ours, relations_kept_for

_MADE_FOR = "sparkivm.made_for"
_ADDS_UP = "sparkivm.adds_up"  # a hash of its text, if that adds up the entries of a group


def adds_up_entries(view: RelationFacts) -> bool:
    """Whether a public view adds up the entries of a group."""
    return view.properties.get(_ADDS_UP) == digest(view.view_text.strip())


def public_texts(compiled: CompiledView, request: RefreshRequest) -> tuple[str, str]:
    """Its SELECT over a state with one entry per group, and with several."""
    state, format = request.state, request.format
    if compiled.plan is None:
        text = f"select {', '.join(_read_back(f, format) for f in compiled.fields)}\nfrom {state.sql}"
        return text, text
    finalizer = compiled.plan.finalizer
    entries = finalizer.text_of_entries(state.sql) if request.as_entries else None
    if entries is not None:
        return entries, entries
    shown = partial(finalizer.text, state.sql, keeps=format.keeps)
    return shown("one"), shown("several")


def _read_back(field: Field, format: StateFormat) -> str:
    """A stored column with the model's type."""
    name = quoted(field.name)
    if format.keeps(field.spark_type):
        return name
    return f"cast({name} as {field.spark_type.cast_text}) as {name}"


class PublicView:
    """The public view of one state."""

    def __init__(self, engine: RecordingEngine, sources: Sources, request: RefreshRequest) -> None:
        self._engine, self._sources, self._request = engine, sources, request
        self._view, self._comment = request.view, request.comment
        self._looked = False
        self._facts: RelationFacts | None = None  # after the first look
        self.put_aside_as: TableName | None = None  # the former relation with its name

    @property
    def is_there(self) -> bool:
        return self._own is not None

    @property
    def former_state(self) -> TableName | None:
        """The state that it reads, if it is not the request's state."""
        if self._own is None:
            return None
        state = state_table(self._view, state_catalog(self._own.properties))
        return state if state.key != self._request.state.key else None

    @property
    def moved(self) -> Fallback | None:
        """Why the state has to be built again, if it is in another catalog than it has to be."""
        former = self.former_state
        if former is None:
            return None
        return Fallback(Reason.CONFIG_CHANGED, f"the state is {former}, but has to be {self._request.state}")

    def check_name(self) -> None:
        """Raises: ModelError if a foreign relation has its name and is not what the model was before.

        The former relation has no marker, or that of an interrupted `put_aside`.
        """
        if self._found is None or not self._in_the_way:
            return
        request = self._request
        marker = read_marker(self._found.properties)
        former = request.takes_over and marker in (None, Marker(request.owner, Role.PUT_ASIDE))
        if not former:
            raise in_the_way(request, self._found, request.view_marker.role)

    def is_as_left(self, frontier: Frontier) -> bool:
        """Whether it is as the last refresh left it, and has its comment."""
        shows = self._text is not None and digest(self._text) in frontier.shown_by
        return shows and self._is_made_for(frontier)

    def adds_up(self, compiled: CompiledView) -> bool:
        """Whether entries of a group may be appended: it adds them up, and views over it read this text."""
        one, adding = public_texts(compiled, self._request)
        return (adding != one or self._request.as_entries) and self._adds_up

    def publish(
        self, compiled: CompiledView, frontier: Frontier, *, in_any_case: bool, takes_entries: bool
    ) -> None:
        """Create or replace it if it is out of date.

        Of its two texts it keeps the current one, because views over it were created against it. The texts
        themselves may have other constants in each run.

        in_any_case    whether to replace it even if it is up to date
        takes_entries  whether the state of a new view may have several entries per group
        """
        one, adding = public_texts(compiled, self._request)
        known = self._own is not None and _ADDS_UP in self._own.properties
        stays = known and not in_any_case
        adds_up = frontier.several or (self._adds_up if stays else takes_entries)
        text = adding if adds_up else one
        is_as_wanted = text == self._text and adds_up == self._adds_up and self._is_made_for(frontier)
        if not (stays and is_as_wanted):
            self.create(text, frontier, adds_up=adds_up)

    def create(self, select: str, frontier: Frontier, *, adds_up: bool) -> None:
        """Create or replace it. Puts a foreign relation with its name aside, and back if this fails.

        adds_up  whether the SELECT adds up the entries of a group

        Raises: ModelError if somebody else took the name meanwhile; EngineError.
        """
        catalog = self._request.layout.catalog
        sql = self._engine.render(
            "public_view",
            view=self._view.sql,
            select=select,
            comment=self._comment,
            tblproperties={
                **self._request.view_marker.properties,
                _MADE_FOR: _meaning(frontier),
                _ADDS_UP: digest(select) if adds_up else "",
                **({STATE_CATALOG: shown(catalog)} if catalog else {}),
            },
        )
        self._looked = False  # the build may have taken long
        self.check_name()
        if self._in_the_way:
            assert self._found is not None
            self.put_aside_as = _put_aside(self._engine, self._found, self._request.owner)
            self._engine.warn(
                f"the former relation {self._view} is kept as {self.put_aside_as}; "
                "drop it when you no longer need it"
            )
        try:
            self._engine.execute(sql)
        except BaseException:
            bring_back(self._engine, self._view, self._request.owner)
            raise
        finally:
            self._sources.forget(self._view)
            self._looked = False

    @property
    def _found(self) -> RelationFacts | None:
        if not self._looked:
            self._looked, self._facts = True, self._engine.describe(self._view)
        return self._facts

    @property
    def _in_the_way(self) -> bool:
        """Whether another relation has its name."""
        return self._found is not None and not is_ours(self._found, self._request.view_marker)

    @property
    def _own(self) -> RelationFacts | None:
        """The view, if it is there."""
        is_there = self._found is not None and self._found.kind == "view" and not self._in_the_way
        return self._found if is_there else None

    @property
    def _text(self) -> str | None:
        """Its SELECT, if it is there."""
        return self._own.view_text.strip() if self._own is not None else None

    @property
    def _adds_up(self) -> bool:
        return self._own is not None and adds_up_entries(self._own)

    def _is_made_for(self, frontier: Frontier) -> bool:
        """Whether it has its comment, and was created for this frontier's columns and settings."""
        if self._found is None or self._found.properties.get(_MADE_FOR) != _meaning(frontier):
            return False
        return not self._comment or self._found.comment == self._comment


def _meaning(frontier: Frontier) -> str:
    """A hash of what Spark stores with a view beside its text: the columns' types, the settings."""
    return digest(repr((frontier.fields, sorted(frontier.settings.items()))))


def _put_aside(engine: RecordingEngine, found: RelationFacts, owner: Owner) -> TableName:
    """Rename a relation that has a view's name. Returns: its new name.

    We mark it first: then `bring_back` finds it if this process ends in between.
    """
    aside = next(
        name for number in count(1) if engine.describe(name := name_aside(found.name, number)) is None
    )
    marker = Marker(owner, Role.PUT_ASIDE)
    kind = _kind(found)
    relation, properties = found.name.sql, marker.properties
    engine.run("mark_relation", kind=kind, relation=relation, tblproperties=properties)
    engine.run("rename_relation_to", kind=kind, relation=relation, name=aside.sql)
    return aside


def bring_back(engine: RecordingEngine, view: TableName, owner: Owner) -> None:
    """Give the last relation that was put aside its name back, if the name is free."""
    if engine.describe(view) is not None:
        return
    marker = Marker(owner, Role.PUT_ASIDE)
    found = {facts.name.key: facts for facts, _ in relations_kept_for(engine, view, marker.__eq__)}
    names = (name_aside(view, number).key for number in range(MOST_NUMBERED, 0, -1))
    newest = next((found[key] for key in names if key in found), None)
    if newest is None:
        return
    kind = _kind(newest)
    engine.run("rename_relation_to", kind=kind, relation=newest.name.sql, name=view.sql)
    engine.run("unmark_relation", kind=kind, relation=view.sql, names=PROPERTIES)


def _kind(relation: RelationFacts) -> str:
    """The keyword for it in ALTER."""
    return "view" if relation.kind == "view" else "table"
