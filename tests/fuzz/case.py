"""One case: a random query in a random world, its failure, and a smaller case with the same failure."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from sparkivm.errors import NotIncremental
from tests.fuzz.database import WITH_NAMES_LIKE_OURS, Database
from tests.fuzz.embedded import Catalog
from tests.fuzz.random_data import Change, World, random_world
from tests.fuzz.random_queries import QueryMaker
from tests.fuzz.smaller_queries import smaller_queries
from tests.fuzz.view import View

TREES_PER_WORLD = 20
_SHRINKING_S = 120
_SAME_ERROR = 45  # two errors count as the same if their texts agree up to this length


@dataclass(frozen=True)
class Case:
    """A model, the tables that it reads, and the seed that chooses the apply forms."""

    seed: int
    sql: str
    world: World


def random_case(seed: int, depth: int) -> Case:
    """The case of a seed. Neighboring seeds share a world, so that it is loaded only once."""
    maker = QueryMaker(random.Random(seed), max_depth=depth, names_like_ours=True, chosen_rows=True)
    return Case(seed, maker.query(), shared_world(seed))


def shared_world(seed: int) -> World:
    """The world that a seed and its neighbors share."""
    rng = random.Random(f"world {seed // TREES_PER_WORLD}")
    return random_world(rng, rng.choice((1, 1, 2, 3)))


class Fuzzer:
    """Runs cases on its own database."""

    def __init__(self, catalog: Catalog = WITH_NAMES_LIKE_OURS) -> None:
        self.database = Database(catalog)
        self.forms: Counter[str] = Counter()
        self._last: tuple[str, View] | None = None

    def failure_of(self, case: Case) -> str | None:
        """What differs, or None.

        Raises: NotIncremental if the compiler refuses the query.
        """
        self.database.load(case.world)
        view = self.view(case.sql)
        view.build()
        rng = random.Random(case.seed)
        version, form = 0, "build"
        for version, changes in enumerate(case.world.batches, 1):
            form = view.refresh(rng, version, dict(changes))
            self.forms[form] += 1
            if form != "no_op" and (differs := view.difference(version)):
                return f"view after batch {version} by {form}: {differs}"
        differs = view.state_difference(version)
        return f"state after batch {version} by {form}: {differs}" if differs else None

    def view(self, sql: str) -> View:
        """A model's view; compiled once if the next cases are of the same model."""
        if self._last is None or self._last[0] != sql:
            self._last = sql, View(self.database, sql)
        return self._last[1]

    def outcome_of(self, case: Case) -> str | None:
        """The failure, a difference or an error; None also if the compiler refuses the query."""
        try:
            return self.failure_of(case)
        except NotIncremental:
            return None
        except Exception as error:
            return f"{type(error).__name__}: {error}"

    def shrunk(self, case: Case) -> Case:
        """The smallest case found that fails in the same way: parts of the query, fewer batches, changes and rows."""
        kind = _kind(self.outcome_of(case))
        end = time.monotonic() + _SHRINKING_S
        smaller = True
        while smaller:
            smaller = False
            for candidate in _smaller(case):
                if time.monotonic() > end:
                    return case
                if _kind(self.outcome_of(candidate)) == kind:
                    case, smaller = candidate, True
                    break
        return case


def reproducer(case: Case, failure: str | None) -> str:
    """A case and its failure as text."""
    lines = [f"seed   {case.seed}", f"model  {case.sql}"]
    lines += [f"rows   {table} {rows}" for table, rows in case.world.rows.items() if rows]
    for number, changes in enumerate(case.world.batches, 1):
        for table, change in changes.items():
            if change:
                lines.append(f"batch {number} {table} -{list(change.deleted)} +{list(change.inserted)}")
    return "\n".join([*lines, f"found  {failure}"])


def _kind(outcome: str | None) -> str | None:
    """A key that is equal for failures of the same kind."""
    if outcome is None:
        return None
    if outcome.startswith(("view ", "state ")):
        return "difference"
    return outcome[:_SAME_ERROR]


def _smaller(case: Case) -> Iterator[Case]:
    for sql in smaller_queries(case.sql):
        yield replace(case, sql=sql)
    for world in _smaller_worlds(case.world):
        yield replace(case, world=world)


def _smaller_worlds(world: World) -> Iterator[World]:
    batches = world.batches
    if len(batches) > 1:
        yield World(world.rows, batches[:-1])
        # start after the first batch
        yield World(world.versions()[1], batches[1:])
    for index, changes in enumerate(batches):
        for table, change in changes.items():
            for part in ("deleted", "inserted"):
                rows = getattr(change, part)
                for position in range(len(rows)):
                    less = replace(change, **{part: rows[:position] + rows[position + 1 :]})
                    yield World(
                        world.rows, (*batches[:index], {**changes, table: less}, *batches[index + 1 :])
                    )
    for table, rows in world.rows.items():
        gone = [row for changes in batches for row in _change(changes, table).deleted]
        for position, row in enumerate(rows):
            if row not in gone:
                yield World({**world.rows, table: [*rows[:position], *rows[position + 1 :]]}, batches)


def _change(changes: Mapping[str, Change], table: str) -> Change:
    return changes.get(table, Change())
