"""Other statements for the same refresh, and other texts of the same query."""

from __future__ import annotations

import random
from collections import Counter
from functools import reduce
from operator import add

from sparkivm.plan.steps import INLINED_READS
from tests.fuzz.case import Case
from tests.fuzz.database import Database
from tests.fuzz.metamorphic.equivalent_texts import REWRITES, parsed, printed
from tests.fuzz.metamorphic.history import differs, first_difference, history, visible
from tests.fuzz.random_queries import QueryMaker, kind_of
from tests.fuzz.view import fields_of


def ways_agree(database: Database, case: Case) -> str | None:
    """M5: apply forms from another seed, with every plan cut into steps, give the same states."""
    inlined = history(database, case.sql, case.world, case.seed, (INLINED_READS,))
    stepped = history(database, case.sql, case.world, case.seed + 1, (1,))
    for version, (have, want) in enumerate(zip(stepped, inlined, strict=True)):
        if found := differs(have, want, f"in steps, after batch {version}"):
            return found
    return None


def parts_add_up(database: Database, case: Case) -> str | None:
    """M6: V(p) ⊎ V(not p) ⊎ V(p is null) = V."""
    columns = [(f"whole.{field.name}", kind_of(field.type)) for field in fields_of(database, case.sql)]
    maker = QueryMaker(random.Random(case.seed), moments=False)
    p = maker.test(columns) if maker.rng.random() < 0.4 else maker.predicate(columns)
    if "in (select" in p:
        p = f"coalesce({p}, false)"  # In Spark an unknown IN has no part: p, not p and p is null are all FALSE.
    everything = f"select * from ({case.sql}) as whole"
    views = [
        visible(history(database, sql, case.world, case.seed))
        for sql in (
            everything,
            *(f"{everything} where {part}" for part in (f"({p})", f"not ({p})", f"({p}) is null")),
        )
    ]
    whole, *parts = views
    sums = [reduce(add, bags, Counter()) for bags in zip(*parts, strict=True)]
    return first_difference(sums, whole, f"by parts of {p}")


def texts_agree(database: Database, case: Case) -> str | None:
    """M7: an equivalent text gives the same view."""
    texts = {rewrite.__name__: rewrite(case.sql) for rewrite in REWRITES}
    same = (case.sql, printed(parsed(case.sql)))
    others = [(name, text) for name, text in texts.items() if text not in same]
    name, text = random.Random(case.seed).choice(others)
    want = visible(history(database, case.sql, case.world, case.seed))
    have = visible(history(database, text, case.world, case.seed))
    return first_difference(have, want, f"as {name}: {text}")
