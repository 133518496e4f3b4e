"""A project of 50 models in five layers, as is common in warehouses: bronze, silver, gold.

| layer | models | what |
|---|---|---|
| 1 | `bronze_<source>`, 10 | the newest delivery of each row |
| 2 | `silver_<dimension>`, 5 | each version with its period of validity (SCD2) |
|   | `silver_<fact>`, 5 | valid facts, with their totals |
| 3 | `joined_<fact>_<dimension>`, 10 | facts with the version that was valid at their time |
| 4 | `daily_<fact>_<dimension>`, 10 | sums by day and attribute |
| 5 | `gold_<fact>_monthly`, 5 | sums of these by month |
|   | `gold_<fact>_ranking`, 5 | rank within the day, and running total |
"""

from __future__ import annotations

from benchmarks.medallion_sources import DIMENSIONS, FACTS, SCHEMA

_DIMENSION_KEYS = ", ".join(f"{dimension}_id" for dimension in DIMENSIONS)


def models() -> dict[str, str]:
    """Path → text of each model, layer by layer."""
    found: dict[str, str] = {}
    for dimension in DIMENSIONS:
        found[f"1_bronze/bronze_{dimension}"] = _newest(
            dimension, "id, valid_from, name, attribute", "id, valid_from"
        )
        found[f"2_silver/silver_{dimension}"] = _versions(dimension)
    for fact, dimensions in FACTS.items():
        found[f"1_bronze/bronze_{fact}"] = _newest(fact, f"id, at, {_DIMENSION_KEYS}, amount, quantity", "id")
        found[f"2_silver/silver_{fact}"] = _facts(fact)
        for dimension in dimensions:
            found[f"3_joined/joined_{fact}_{dimension}"] = _joined(fact, dimension)
            found[f"4_daily/daily_{fact}_{dimension}"] = _daily(fact, dimension)
        first, second = dimensions
        found[f"5_gold/gold_{fact}_monthly"] = _monthly(fact, first)
        found[f"5_gold/gold_{fact}_ranking"] = _ranking(fact, second)
    return dict(sorted(found.items()))


def sources() -> str:
    """The declaration of the ten sources."""
    tables = "".join(f"\n      - name: {name}" for name in (*DIMENSIONS, *FACTS))
    return f"sources:\n  - name: raw\n    schema: {SCHEMA}\n    tables:{tables}\n"


def _newest(source: str, columns: str, key: str) -> str:
    return f"""with deliveries as (
  select {columns}, row_number() over (partition by {key} order by loaded_at desc) as delivery
  from {{{{ source('raw', '{source}') }}}}
)
select {columns} from deliveries where delivery = 1
"""


def _versions(dimension: str) -> str:
    return f"""select
  id, name, attribute, valid_from,
  lead(valid_from, 1, date'9999-12-31') over (partition by id order by valid_from) as valid_to
from {{{{ ref('bronze_{dimension}') }}}}
"""


def _facts(fact: str) -> str:
    return f"""select id, at, {_DIMENSION_KEYS}, quantity, amount * quantity as total
from {{{{ ref('bronze_{fact}') }}}}
where quantity > 0
"""


def _joined(fact: str, dimension: str) -> str:
    return f"""select f.id, f.at, f.quantity, f.total, d.name, d.attribute
from {{{{ ref('silver_{fact}') }}}} as f
join {{{{ ref('silver_{dimension}') }}}} as d
  on d.id = f.{dimension}_id and f.at >= d.valid_from and f.at < d.valid_to
"""


def _daily(fact: str, dimension: str) -> str:
    return f"""select attribute, at, count(*) as n, sum(quantity) as quantity, sum(total) as total
from {{{{ ref('joined_{fact}_{dimension}') }}}}
group by attribute, at
"""


def _monthly(fact: str, dimension: str) -> str:
    return f"""select
  attribute, trunc(at, 'month') as month,
  sum(n) as n, sum(quantity) as quantity, sum(total) as total, max(total) as best_day
from {{{{ ref('daily_{fact}_{dimension}') }}}}
group by attribute, trunc(at, 'month')
"""


def _ranking(fact: str, dimension: str) -> str:
    return f"""select
  attribute, at, total,
  rank() over (partition by at order by total desc) as place,
  sum(total) over (partition by attribute, trunc(at, 'month') order by at) as so_far
from {{{{ ref('daily_{fact}_{dimension}') }}}}
"""
