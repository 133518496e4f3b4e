"""What can go wrong for good: the model's author has to act, or we have a bug."""

from __future__ import annotations

from typing import NoReturn

from sparkivm.reasons import Fallback, Place


class ModelError(Exception):
    """The author of the model can solve it. The text says what happened, where, and what to do."""

    def __init__(self, model: str, what: str, do: str, place: Place | None = None) -> None:
        where = (
            f"\n  where  line {place.line}, column {place.column}{': ' + place.text if place.text else ''}"
            if place
            else ""
        )
        super().__init__(f"incremental_view {model}\n  what   {what}{where}\n  do     {do}")
        self.model, self.what, self.do, self.place = model, what, do, place


class DeclarationError(Exception):
    """What the project declares of a source (`meta.sparkivm`) is wrong; its author can correct it."""

    def __init__(self, source: str, what: str, do: str) -> None:
        super().__init__(f"source {source} (meta.sparkivm)\n  what   {what}\n  do     {do}")
        self.source, self.what, self.do = source, what, do


class InternalError(Exception):
    """A promise of ours is broken; please report it with the text."""


class NotIncremental(Exception):
    """Raised while compiling, where no rule applies; ends as a full refresh with its reason."""

    def __init__(self, fallback: Fallback) -> None:
        super().__init__(str(fallback))
        self.fallback = fallback


class UnknownName(NotIncremental):
    """It is no column, so it may be a variable of the session, of whose changes nothing tells."""


def no_rule(node: NoReturn) -> InternalError:
    """What a `match` over all operators ends in: the type checker names those that are missing."""
    return InternalError(f"no rule for {type(node).__name__}")
