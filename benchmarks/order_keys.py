"""Which orders a change batch inserts, deletes and updates: a pure choice, the same for the same seed.

TPC-H uses only the first 8 of every 32 order keys; its refresh function inserts into the gaps. So does
`spread`, which chooses orders from the whole key range. `recent` works at the end of the range, like an
application.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Literal

Placement = Literal["spread", "recent"]


def order_key(number: int) -> int:
    """The key of the generator's `number`-th order, counted from 1."""
    return (number >> 3) << 5 | (number & 7)


def gap_key(number: int) -> int:
    """An unused key beside that of the `number`-th order."""
    return order_key(number) + 8


@dataclass(frozen=True)
class OrderChoice:
    """The orders of one batch; `copies` are pairs (key of an order to copy, key of its copy)."""

    copies: tuple[tuple[int, int], ...]
    deleted: tuple[int, ...]
    updated: tuple[int, ...] = ()


@dataclass
class OrderChooser:
    """Chooses the batches among the `n_orders` generated orders; no order is chosen twice."""

    n_orders: int
    placement: Placement = "spread"
    seed: int = 1
    _chosen: set[int] = field(default_factory=set, repr=False)
    _appended: int = field(default=0, repr=False)

    def next_batch(self, n_inserted: int, n_deleted: int, n_updated: int = 0) -> OrderChoice:
        """The next batch, with these numbers of new, deleted and updated orders.

        Raises: ValueError if fewer orders are left than the batch needs.
        """
        n_left = self.n_orders - len(self._chosen)
        if n_inserted + n_deleted + n_updated > n_left:
            raise ValueError(f"only {n_left} of {self.n_orders} orders are left to change")
        templates = self._take(n_inserted)
        deleted = self._take(n_deleted)
        updated = self._take(n_updated)
        copies = tuple((order_key(number), self._new_key(number)) for number in templates)
        return OrderChoice(copies, tuple(map(order_key, deleted)), tuple(map(order_key, updated)))

    def _take(self, count: int) -> list[int]:
        if self.placement == "recent":
            newest = self.n_orders - len(self._chosen)
            numbers = list(range(newest, newest - count, -1))
        else:
            numbers = self._draw(count)
        self._chosen.update(numbers)
        return sorted(numbers)

    def _draw(self, count: int) -> list[int]:
        # A new generator for each draw, so a batch depends only on the seed and the number of chosen orders.
        generator = random.Random(f"{self.seed}/{len(self._chosen)}")
        drawn: set[int] = set()
        while len(drawn) < count:
            number = generator.randint(1, self.n_orders)
            if number not in self._chosen:
                drawn.add(number)
        return list(drawn)

    def _new_key(self, number: int) -> int:
        if self.placement == "spread":
            return gap_key(number)
        self._appended += 1
        return order_key(self.n_orders + self._appended)
