"""A query over clones of its sources means the same, also where their names come in another order."""

from __future__ import annotations

from collections import Counter

from sparkivm.errors import NotIncremental
from sparkivm.frontend.parse import parse_model
from sparkivm.frontend.table_references import replace_references, table_references
from sparkivm.plan.state_evolution import content_of
from sparkivm.spark_sql.relations import select_text
from tests.fuzz.case import Fuzzer, random_case
from tests.fuzz.embedded import Catalog, Embedded, Sources
from tests.fuzz.run import first_seed
from tests.fuzz.view import View

_TREES = 100


def over_clones(database: Embedded, sql: str) -> tuple[Embedded, str, dict[str, str]]:
    """A database that also has clones, with names in reverse order; the query over them; clone → origin."""
    tables = database.catalog.tables
    clones = dict(
        zip([f"clone_{name}" for name in sorted(tables)], sorted(tables, reverse=True), strict=True)
    )
    for clone, origin in clones.items():
        database.execute(f"create or replace view {clone}_0 as select * from {origin}_0")
    cloned = {clone: tables[origin] for clone, origin in clones.items()}
    names = {origin: clone for clone, origin in clones.items()}
    references = table_references(parse_model("model", sql))
    assert references is not None
    text = replace_references(
        sql,
        references,
        lambda one: names[one.parts[-1]] if one.aliased else f"{names[one.parts[-1]]} as `{one.parts[-1]}`",
    )
    return Embedded(database.connection, Catalog({**tables, **cloned})), text, clones


def test_random_queries():
    fuzzer, found = Fuzzer(), Counter[str]()
    for seed in range(first_seed(), first_seed() + _TREES):
        case = random_case(seed, depth=3)
        fuzzer.database.load(case.world)
        try:
            plan = View(fuzzer.database, case.sql).plan
            database, text, clones = over_clones(fuzzer.database, case.sql)
            here = View(database, text).plan
        except NotIncremental:
            found["refused"] += 1
            continue
        assert here.state.names == plan.state.names
        meanings = [
            select_text(content_of(one, one.state.names, named), Sources(0))
            for one, named in ((plan, {}), (here, clones))
        ]
        found["same" if meanings[0] == meanings[1] else "other"] += 1
    assert not found["other"], found
    assert found["same"] > _TREES / 2, found
