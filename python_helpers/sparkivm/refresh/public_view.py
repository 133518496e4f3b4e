"""The view that users read: a SELECT over the state, with the model's description as its comment."""

from __future__ import annotations

from sparkivm.changes.frontier import Frontier
from sparkivm.engine import Engine, RelationFacts
from sparkivm.names import TableName, quoted, state_table
from sparkivm.refresh.compiled_view import CompiledView
from sparkivm.refresh.source_catalog import digest
from sparkivm.refresh.sources import Sources

_MADE_FOR = "sparkivm.made_for"


def public_texts(compiled: CompiledView, state: TableName) -> tuple[str, str]:
    """Its SELECT over a state with one entry per group, and with several."""
    if compiled.plan is None:
        text = f"select {', '.join(quoted(f.name) for f in compiled.fields)}\nfrom {state.sql}"
        return text, text
    finalizer = compiled.plan.finalizer
    return finalizer.text(state.sql, "one"), finalizer.text(state.sql, "several")


class PublicView:
    """The public view of one state.

    comment  empty if it needs none
    """

    def __init__(self, engine: Engine, sources: Sources, view: TableName, comment: str) -> None:
        self._engine, self._sources, self._view, self._comment = engine, sources, view, comment
        self._facts: RelationFacts | None = None  # once they were asked for

    @property
    def is_there(self) -> bool:
        return self._text is not None

    def is_as_left(self, frontier: Frontier) -> bool:
        """Whether it is what the last refresh made of it, and has its comment."""
        right = frontier.public[1:] if frontier.several else frontier.public
        return self._text is not None and digest(self._text) in right and self._is_made_for(frontier)

    def adds_up(self, compiled: CompiledView) -> bool:
        """Whether entries of a group may be appended: it adds them up, and views over it are made so."""
        one, adding = public_texts(compiled, state_table(self._view))
        return adding != one and self._text == adding

    def publish(self, compiled: CompiledView, frontier: Frontier, *, anew: bool, takes_entries: bool) -> None:
        """Create or replace it if it is not what it should be.

        It stays the one of its two texts that it is, as the views over it are made for this text.

        anew           whether it is replaced in any case
        takes_entries  whether a new view's state may be given several entries of a group
        """
        one, adding = public_texts(compiled, state_table(self._view))
        stays = not anew and self._text in (one, adding)
        text = adding if frontier.several or (self._text == adding if stays else takes_entries) else one
        if not stays or text != self._text or not self._is_made_for(frontier):
            self.create(text, frontier)

    def create(self, select: str, frontier: Frontier) -> None:
        sql = self._engine.render(
            "public_view",
            view=self._view.sql,
            select=select,
            comment=self._comment,
            tblproperties={_MADE_FOR: _meaning(frontier)},
        )
        self._sources.statements.append(sql)
        self._engine.execute(sql)
        self._sources.forget(self._view)
        self._facts = None

    @property
    def _found(self) -> RelationFacts | None:
        if self._facts is None:
            self._facts = self._engine.describe(self._view)
        return self._facts

    @property
    def _text(self) -> str | None:
        """Its SELECT, if it is there."""
        return self._found.view_text.strip() if self._found and self._found.kind == "view" else None

    def _is_made_for(self, frontier: Frontier) -> bool:
        """Whether it has its comment, and the columns and settings of a state."""
        if self._found is None or self._found.properties.get(_MADE_FOR) != _meaning(frontier):
            return False
        return not self._comment or self._found.comment == self._comment


def _meaning(frontier: Frontier) -> str:
    """What a text over the state means, as Spark keeps it with a view: the columns' types, the settings."""
    return digest(repr((frontier.fields, sorted(frontier.settings.items()))))
