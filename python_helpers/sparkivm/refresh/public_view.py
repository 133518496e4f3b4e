"""The view that users read: a SELECT over the state, with the model's description as its comment."""

from __future__ import annotations

from sparkivm.changes.frontier import Frontier
from sparkivm.engine import Engine, RelationFacts
from sparkivm.names import TableName, quoted, state_table
from sparkivm.refresh.compiled_view import CompiledView
from sparkivm.refresh.source_catalog import digest
from sparkivm.refresh.sources import Sources


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

    def is_as_left(self, frontier: Frontier) -> bool:
        """Whether it is what the last refresh made of it, and has its comment."""
        text = self._text()
        return text is not None and digest(text) in frontier.public

    def publish(self, compiled: CompiledView, several: bool, *, known: bool) -> None:
        """Create or replace it if its text or comment changed; one that adds up may stay.

        several  whether the state may hold several entries of a group
        known    whether there was a state of the same columns before
        """
        one, adding = public_texts(compiled, state_table(self._view))
        text = self._text() if known else None
        if text is not None and (text == adding or (text == one and not several)):
            return
        self.create(adding if several else one)

    def create(self, select: str) -> None:
        sql = self._engine.render("public_view", view=self._view.sql, select=select, comment=self._comment)
        self._sources.statements.append(sql)
        self._engine.execute(sql)
        self._sources.forget(self._view)

    def _text(self) -> str | None:
        """Its SELECT, if it is there and has its comment."""
        found = self._engine.describe(self._view)
        if found is None or found.kind != "view" or not self._says_the_comment(found):
            return None
        return found.view_text.strip()

    def _says_the_comment(self, found: RelationFacts) -> bool:
        return not self._comment or found.comment == self._comment
