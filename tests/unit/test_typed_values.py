"""Dataclasses that are read from JSON which somebody else may have written."""

from __future__ import annotations

from dataclasses import dataclass

from sparkivm.changes.typed_values import WrongType, typed


@dataclass(frozen=True)
class Part:
    version: int
    names: tuple[str, ...]
    pair: tuple[str, int]


VALID = {"version": 1, "names": ["a", "b"], "pair": ["c", 2]}
OTHERS = (
    *({"version": number} for number in (2**63, -(2**63) - 1, True, 1.0, "1")),
    *({"names": names} for names in ("ab", {"a": "b"}, ["a", 1], None)),
    *({"pair": pair} for pair in ("c2", ["c"], ["c", 2, 3], {"c": 2, 2: "c"})),
)


def test_typed_values_are_read():
    assert typed(Part, VALID) == Part(1, ("a", "b"), ("c", 2))
    for number in (2**63 - 1, -(2**63)):
        assert typed(Part, VALID | {"version": number}).version == number


def is_refused(value: object) -> bool:
    try:
        typed(Part, value)
    except WrongType:
        return True
    return False


def test_values_of_other_types_are_refused():
    assert not [other for other in OTHERS if not is_refused(VALID | other)]
