"""The ten raw tables below the layers, and the deliveries to them.

Each row has the time of its delivery; one in twenty arrives twice, and the later delivery counts. Dimensions
have several versions of each row; facts refer to five dimensions and follow each other in time.
"""

from __future__ import annotations

from pyspark.sql import SparkSession

from benchmarks.order_keys import Placement
from benchmarks.statements import NOTHING, Statements

SCHEMA = "raw"
DIMENSIONS = ("customer", "product", "store", "supplier", "campaign")
FACTS = {  # with the two dimensions that models join to it
    "orders": ("customer", "product"),
    "payments": ("customer", "store"),
    "shipments": ("product", "supplier"),
    "returns": ("store", "product"),
    "visits": ("customer", "campaign"),
}
FACTS_PER_SCALE, ENTITIES_PER_SCALE = 1_000_000, 20_000
_ROWS_PER_FILE = 250_000
_TWICE = 20  # one row in this many
_FIRST_DELIVERY = 1_767_225_600  # 2026-01-01 in seconds since 1970; the others follow within weeks
_FEED = "using delta tblproperties (delta.enableChangeDataFeed = true)"
_KEYS = ", ".join(f"pmod(hash(i, '{one}'), {{entities}}) as {one}_id" for one in DIMENSIONS)


def sizes(scale: float) -> tuple[int, int]:
    """(facts per fact table, entities per dimension)."""
    return max(1000, round(FACTS_PER_SCALE * scale)), max(100, round(ENTITIES_PER_SCALE * scale))


def load(spark: SparkSession, scale: float) -> None:
    """Create all tables again, with their change data feeds on."""
    n_facts, entities = sizes(scale)
    session = spark.newSession()
    session.sql(f"drop schema if exists {SCHEMA} cascade")
    session.sql(f"create schema {SCHEMA}")
    for dimension in DIMENSIONS:
        session.sql(f"""
            create table {SCHEMA}.{dimension} {_FEED} as
            select
              i % {entities} as id, concat('{dimension} ', i % {entities}) as name,
              concat('a', pmod(hash(i), 20)) as attribute,
              add_months(date'2024-12-01', cast(least(i div {entities}, 2) * 5 as int)) as valid_from,
              timestamp_seconds({_FIRST_DELIVERY} + i) as loaded_at
            from (select id as i from range(0, {3 * entities + entities // _TWICE}, 1, 1))
        """)
    for fact in FACTS:
        session.sql(f"""
            create table {SCHEMA}.{fact} {_FEED} as
            select
              fact as id, date_add(date'2025-01-01', cast(fact * 365 div {n_facts} as int)) as at,
              {_KEYS.format(entities=entities)},
              cast(pmod(hash(i, 'amount'), 10000) / 100 as decimal(12, 2)) as amount,
              pmod(hash(i, 'quantity'), 10) as quantity,
              timestamp_seconds({_FIRST_DELIVERY} + i) as loaded_at
            from (
              select id as i, if(id < {n_facts}, id, (id - {n_facts}) * {_TWICE}) as fact
              from range(0, {n_facts + n_facts // _TWICE}, 1, {max(1, n_facts // _ROWS_PER_FILE)})
            )
        """)


def delivery(percent: float, scale: float, keys: Placement) -> Statements:
    """Statements that change a share of the rows of each source.

    Of the changed facts six in ten are new, three are delivered again with another amount, one is deleted.
    Entities get a new version. `keys` says which facts change: any, or the latest.
    """
    if not percent:
        return NOTHING
    n_facts, entities = sizes(scale)
    changed = max(10, round(n_facts * percent / 100))
    texts = [text for fact in FACTS for text in _fact_statements(fact, n_facts, changed, entities, keys=keys)]
    moved = max(1, round(entities * percent / 100))
    texts += [_new_versions(dimension, entities, moved) for dimension in DIMENSIONS]
    return Statements(f"{percent:g} % of each source", tuple(texts))


def _fact_statements(
    fact: str, n_facts: int, changed: int, entities: int, *, keys: Placement
) -> tuple[str, ...]:
    table = f"{{schema}}.{fact}"
    inserted, corrected, deleted = changed * 6 // 10, changed * 3 // 10, changed // 10
    days = 7 if keys == "recent" else 365
    columns = ", ".join(f"{one}_id" for one in DIMENSIONS)
    return (
        f"""insert into {table}
            select
              1000000000L * {{number}} + i, date_sub(date'2025-12-31', cast(i % {days} as int)),
              {_KEYS.format(entities=entities)}, 10.50, 1 + i % 5,
              timestampadd(day, {{number}}, timestamp'2026-06-01')
            from (select id as i from range(0, {inserted}, 1, 1))""",
        f"""insert into {table}
            select
              /*+ repartition(1) */ id, at, {columns}, amount + 1, quantity,
              timestampadd(day, 365 * {{number}}, loaded_at)
            from {table} where {_some_facts(n_facts, corrected, 2, keys)} and year(loaded_at) = 2026""",
        f"delete from {table} where {_some_facts(n_facts, deleted, 1, keys)}",
    )


def _some_facts(n_facts: int, count: int, offset: int, keys: Placement) -> str:
    """A condition for about `count` facts, different ones in each batch; `recent`: in the last fifth."""
    first = n_facts * 4 // 5 if keys == "recent" else 0
    every = max(3, (n_facts - first) // max(1, count))
    return f"id between {first} and {n_facts - 1} and id % {every} = (7919 * {{number}} + {offset}) % {every}"


def _new_versions(dimension: str, entities: int, moved: int) -> str:
    every = entities // moved
    return f"""insert into {{schema}}.{dimension}
        select
          id, concat('{dimension} ', id), concat('a', (id + {{number}}) % 20),
          date_add(date'2025-12-01', {{number}} % 31), timestampadd(day, {{number}}, timestamp'2026-06-01')
        from range(0, {entities}, 1, 1) where id % {every} = 7919 * {{number}} % {every}"""
