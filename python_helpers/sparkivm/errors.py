"""Errors that end a refresh: the model's author must act, or we have a bug."""

from __future__ import annotations

from typing import NoReturn

from sparkivm.reasons import Fallback, Place, Reason


class ModelError(Exception):
    """The author of the model can fix this. The text says what happened, where, and what to do."""

    def __init__(self, model: object, what: str, do: str, place: Place | None = None) -> None:
        where = (
            f"\n  where  line {place.line}, column {place.column}{': ' + place.text if place.text else ''}"
            if place
            else ""
        )
        super().__init__(f"incremental_view {model}\n  what   {what}{where}\n  do     {do}")
        self.what, self.do, self.place = what, do, place


class DeclarationError(Exception):
    """The project's declaration of a source (`meta.sparkivm`) is wrong; its author can fix it."""

    def __init__(self, source: object, what: str, do: str) -> None:
        super().__init__(f"source {source} (meta.sparkivm)\n  what   {what}\n  do     {do}")
        self.source, self.what, self.do = str(source), what, do


class SeedError(Exception):
    """The table of a seed could not be updated; the text says why, and what to do."""

    def __init__(self, seed: object, what: str, do: str) -> None:
        super().__init__(f"seed {seed}\n  what   {what}\n  do     {do}")


class InternalError(Exception):
    """We violated our own assumptions; please report the error with its text."""


class NotIncremental(Exception):
    """Raised while compiling, if no rule applies; leads to a full refresh with this reason."""

    def __init__(self, why: Reason | Fallback, detail: str = "", place: Place | None = None) -> None:
        self.fallback = why if isinstance(why, Fallback) else Fallback(why, detail, place)
        super().__init__(str(self.fallback))


class UnknownName(NotIncremental):
    """An unresolved name: possibly a session variable, whose changes we cannot observe."""


def no_rule(node: NoReturn) -> InternalError:
    """The last case of a `match` over all operators: the type checker names those that are missing."""
    return InternalError(f"no rule for {type(node).__name__}")
