"""Memoized methods: each answer is computed once for an object."""

from __future__ import annotations

import pytest

from sparkivm.algebra.memo import memoized


class Asked:
    def __init__(self) -> None:
        self.asked: list[tuple[int, int]] = []

    def added(self, left: int, right: int = 0) -> int:
        self.asked.append((left, right))
        if left < 0:
            raise ValueError("negative")
        return left + right


@pytest.fixture
def counted_class() -> type[Asked]:
    """Made in each test, so that a mistake in the decorator is seen."""

    class Counted(Asked):
        added = memoized(Asked.added)

    return Counted


def test_an_answer_is_computed_once(counted_class: type[Asked]) -> None:
    counted = counted_class()
    assert [counted.added(1), counted.added(1), counted.added(1, 2), counted.added(1, right=2)] == [
        1,
        1,
        3,
        3,
    ]
    assert counted.asked == [(1, 0), (1, 2), (1, 2)]  # an argument by name is another key


def test_objects_do_not_share_answers(counted_class: type[Asked]) -> None:
    one, other = counted_class(), counted_class()
    one.added(1)
    other.added(1)
    assert one.asked == other.asked == [(1, 0)]


def test_a_failed_answer_is_computed_again(counted_class: type[Asked]) -> None:
    counted = counted_class()
    for _ in range(2):
        with pytest.raises(ValueError, match="negative"):
            counted.added(-1)
    assert counted.asked == [(-1, 0), (-1, 0)]
