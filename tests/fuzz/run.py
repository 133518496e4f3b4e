"""Random queries × random data × random changes: each refreshed view against its recomputation."""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter

from sparkivm.errors import NotIncremental
from tests.fuzz.duck import Database, View
from tests.fuzz.random_data import TABLES, Change, Row, random_change, random_table
from tests.fuzz.random_queries import QueryMaker

Case = tuple[str, dict[str, list[Row]], list[tuple[bool, dict[str, Change]]], int]


def random_case(seed: int, depth: int) -> Case:
    """(model, first content, batches of changes, seed for the choice of apply forms)."""
    rng = random.Random(seed)
    sql = QueryMaker(rng, max_depth=depth).query()
    rows = {table: random_table(rng) for table in TABLES}
    batches = []
    content = {table: list(r) for table, r in rows.items()}
    from tests.fuzz.random_data import applied

    for _ in range(rng.choice((1, 2, 3))):
        insert_only = rng.random() < 0.3
        changes = {
            table: random_change(rng, content[table], insert_only) for table in TABLES if rng.random() < 0.75
        }
        for table, change in changes.items():
            content[table] = applied(content[table], change)
        batches.append((insert_only, changes))
    return sql, rows, batches, seed


def failure_of(case: Case, database: Database, forms: Counter[str]) -> str | None:
    """What differs, or None. Raises NotIncremental if the compiler refuses the query."""
    sql, rows, batches, seed = case
    database.load(rows)
    view = View(database, sql)
    view.build()
    rng = random.Random(seed)
    for number, (insert_only, changes) in enumerate(batches, 1):
        database.change(changes)
        changed = frozenset(t for t, c in changes.items() if c.deleted or c.inserted)
        form = view.refresh(rng, insert_only, changed)
        forms[form] += 1
        for what, (extra, missing) in (("view", view.difference()), ("state", view.state_difference())):
            if extra or missing:
                return (
                    f"{what} after batch {number} by {form}: too many {dict(extra)}, missing {dict(missing)}"
                )
    return None


def shrunk(case: Case, database: Database) -> Case:
    """Fewer batches, changes and rows, as long as it still fails."""

    def fails(candidate: Case) -> bool:
        try:
            return failure_of(candidate, database, Counter()) is not None
        except NotIncremental:
            return False
        except Exception:
            return False

    sql, rows, batches, seed = case
    smaller = True
    while smaller:
        smaller = False
        for candidate in _smaller(rows, batches):
            if fails((sql, *candidate, seed)):
                rows, batches = candidate
                smaller = True
                break
    return sql, rows, batches, seed


def _smaller(rows, batches):  # type: ignore[no-untyped-def]
    if len(batches) > 1:
        yield rows, batches[:-1]
    for i, (insert_only, changes) in enumerate(batches):
        for table, change in changes.items():
            for part in ("deleted", "inserted"):
                values = getattr(change, part)
                for j in range(len(values)):
                    other = Change(
                        *(
                            values[:j] + values[j + 1 :] if p == part else getattr(change, p)
                            for p in ("deleted", "inserted")
                        )
                    )
                    yield rows, [*batches[:i], (insert_only, {**changes, table: other}), *batches[i + 1 :]]
    gone = {
        table: [r for _, c in batches for r in (c.get(table).deleted if c.get(table) else ())]
        for table in rows
    }
    for table, content in rows.items():
        for j in range(len(content)):
            if content[j] not in gone[table]:
                yield {**rows, table: content[:j] + content[j + 1 :]}, batches


def reproducer(case: Case, failure: str) -> str:
    sql, rows, batches, seed = case
    lines = [f"seed   {seed}", f"model  {sql}"]
    lines += [f"rows   {table} {content}" for table, content in rows.items() if content]
    for number, (_, changes) in enumerate(batches, 1):
        for table, change in changes.items():
            if change.deleted or change.inserted:
                lines.append(f"batch {number} {table} -{list(change.deleted)} +{list(change.inserted)}")
    return "\n".join([*lines, f"found  {failure}"])


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trees", type=int, default=2000)
    parser.add_argument("--depth", type=int, default=3)
    parser.add_argument(
        "--seed", type=int, default=None, help="of the first tree; printed, and random by default"
    )
    parser.add_argument("--keep-going", action="store_true")
    options = parser.parse_args(argv)
    first = options.seed if options.seed is not None else random.SystemRandom().randrange(10**9)
    print(f"seed {first}, {options.trees} trees, depth {options.depth}", flush=True)
    database, forms, refused = Database(), Counter[str](), Counter[str]()
    started, failures = time.perf_counter(), 0
    for seed in range(first, first + options.trees):
        case = random_case(seed, options.depth)
        try:
            failure = failure_of(case, database, forms)
        except NotIncremental as error:
            refused[error.fallback.reason.name + " " + error.fallback.detail[:40]] += 1
            continue
        except Exception as error:
            print(reproducer(case, f"{type(error).__name__}: {error}"))
            failures += 1
            if not options.keep_going:
                raise
            continue
        if failure:
            failures += 1
            small = shrunk(case, database)
            print(reproducer(small, failure_of(small, database, Counter()) or failure))
            if not options.keep_going:
                return 1
    elapsed = time.perf_counter() - started
    print(
        f"{options.trees} trees, {failures} failures, {options.trees / elapsed:.0f} trees/s, forms {dict(forms)}, refused {dict(refused)}"
    )
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
