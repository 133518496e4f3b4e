"""Random queries × random data × random changes: compares each refreshed view with its recomputation, and more."""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from multiprocessing import get_context

import duckdb

from sparkivm.errors import NotIncremental
from tests.fuzz.case import TREES_PER_WORLD, Fuzzer, random_case, reproducer
from tests.fuzz.metamorphic.relations import RELATIONS, RelationFuzzer
from tests.seeds import seed as seed_of

_RELATIONS_SHARE = 20  # a relation gets a twentieth of the trees, because each tree needs several views
_MOST_OF_A_PROCESS = 1_000  # trees; a crash of the engine ends the process


@dataclass
class Findings:
    """The results of many cases."""

    trees: int = 0
    failures: list[str] = field(default_factory=list)
    forms: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)

    def __add__(self, other: Findings) -> Findings:
        return Findings(
            self.trees + other.trees,
            self.failures + other.failures,
            self.forms + other.forms,
            self.refused + other.refused,
        )


def try_seeds(first: int, count: int, depth: int, relation: str = "") -> Findings:
    """Run the cases of `count` seeds. Each failure is reported as a reproducer.

    relation  name of a metamorphic relation; without it, views are compared with their recomputation
    """
    findings, make = Findings(), RELATIONS[relation].case if relation else random_case

    def new_fuzzer() -> Fuzzer:
        return RelationFuzzer(RELATIONS[relation]) if relation else Fuzzer()

    fuzzer = new_fuzzer()
    for seed in range(first, first + count):
        findings.trees += 1
        case = make(seed, depth)
        try:
            failure = fuzzer.failure_of(case)
        except NotIncremental as error:
            findings.refused[f"{error.fallback.reason.name} {error.fallback.detail[:50]}"] += 1
            continue
        except duckdb.OutOfMemoryException:
            findings.refused["a product of too many rows"] += 1
            continue
        except duckdb.InternalException as error:
            # A bug of the engine, which we do not trust afterwards.
            findings.refused[f"the engine failed on seed {seed}: {str(error).splitlines()[0][:80]}"] += 1
            findings.forms += fuzzer.forms
            fuzzer = new_fuzzer()
            continue
        except Exception as error:
            failure = f"{type(error).__name__}: {error}"
        if failure:
            small = fuzzer.shrunk(case)
            findings.failures.append(reproducer(small, fuzzer.outcome_of(small)))
    findings.forms += fuzzer.forms
    return findings


def try_in_parallel(first: int, count: int, depth: int, processes: int, relation: str = "") -> Findings:
    """The same in several processes; each gets whole worlds."""
    share = min(_MOST_OF_A_PROCESS, -(-count // processes // TREES_PER_WORLD) * TREES_PER_WORLD)

    def tried(start: int, trees: int) -> Findings:
        try:
            with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
                return process.submit(try_seeds, start, trees, depth, relation).result()
        except BrokenProcessPool:  # the engine crashed: try all again, except the world that crashed it
            half = trees // 2 // TREES_PER_WORLD * TREES_PER_WORLD
            if half:
                return tried(start, half) + tried(start + half, trees - half)
            return Findings(refused=Counter({f"the engine crashed in the {trees} seeds from {start} on": 1}))

    starts = range(first, first + count, share)
    with ThreadPoolExecutor(processes) as threads:
        return sum(threads.map(lambda s: tried(s, min(share, first + count - s)), starts), Findings())


def random_seed() -> int:
    """A random first seed at which a world begins."""
    return random.SystemRandom().randrange(10**8) * TREES_PER_WORLD


def first_seed() -> int:
    """The tests' first seed: the same in each run, unless SPARKIVM_SEED is set."""
    return seed_of("fuzz") // 10 * TREES_PER_WORLD


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trees", type=int, default=5000)
    parser.add_argument("--depth", type=int, default=2)
    parser.add_argument("--seed", type=int, default=None, help="of the first tree; random by default")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--relation", choices=["", *RELATIONS], help="only this one; '' for recomputation")
    options = parser.parse_args(argv)
    first = options.seed if options.seed is not None else random_seed()
    print(f"seed {first}, {options.trees} trees, depth {options.depth}", flush=True)
    shares = {"": options.trees, **dict.fromkeys(RELATIONS, max(1, options.trees // _RELATIONS_SHARE))}
    if options.relation is not None:
        shares = {options.relation: options.trees}
    failed = [_try_and_print(name, first, trees, options) for name, trees in shares.items()]
    return 1 if any(failed) else 0


def _try_and_print(relation: str, first: int, trees: int, options: argparse.Namespace) -> bool:
    """Returns whether a case failed."""
    started = time.perf_counter()
    if options.processes > 1:
        found = try_in_parallel(first, trees, options.depth, options.processes, relation=relation)
    else:
        found = try_seeds(first, trees, options.depth, relation=relation)
    rate = found.trees / (time.perf_counter() - started)
    for failure in found.failures:
        print(failure, end="\n\n")
    name = relation or "equals its recomputation"
    print(f"{name}: {found.trees} trees, {len(found.failures)} failures, {rate:.0f} trees/s", flush=True)
    if found.forms or found.refused:
        print(f"forms {dict(found.forms)}, refused {dict(found.refused)}", flush=True)
    return bool(found.failures)


if __name__ == "__main__":
    sys.exit(main())
