"""Methods that compute each answer once for an object.

tested  tests/unit/test_memo.py
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

S = TypeVar("S")
P = ParamSpec("P")
T = TypeVar("T")


def memoized(method: Callable[Concatenate[S, P], T]) -> Callable[Concatenate[S, P], T]:
    """The method with its answers kept in the object, by arguments; these are never freed before it."""
    place = f"_answers_of_{method.__name__}"

    @wraps(method)
    def answer(self: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        known: dict[Any, T] = vars(self).setdefault(place, {})
        key = (args, *sorted(kwargs.items()))
        if key not in known:
            known[key] = method(self, *args, **kwargs)
        return known[key]

    return answer
