"""A project to be checked: of its relations only the source `orders` exists."""

from __future__ import annotations

SOURCES = """
sources:
  - name: shop
    schema: "{{ target.schema }}"
    tables: [{name: orders}, {name: missing}]
"""
STAGED = """
{{ config(materialized='view') }}
select id, region, amount, at from {{ source('shop', 'orders') }} where amount > 0
"""
SALES = """
{{ config(materialized='incremental_view') }}
select {{ ref('staged') }}.region, count(*) as n, sum(amount) as amount from {{ ref('staged') }} group by region
"""
LATEST = """
{{ config(materialized='incremental', file_format='delta', incremental_strategy='merge', unique_key='id') }}
select id, region, at from {{ ref('staged') }}
{% if is_incremental() %} where at > (select max(at) from {{ this }}) {% endif %}
"""
# Reads everything before it, by columns that dbt asks for.
JOINED = """
{{ config(materialized='table', file_format='delta') }}
with of_day as (select * from {{ ref('days') }})
select {% for c in adapter.get_columns_in_relation(ref('sales')) %}s.{{ c.name }}, {% endfor %}
  r.name, h.dbt_valid_from, d.day, l.id
from {{ ref('sales') }} as s
join {{ ref('regions') }} as r on r.id = s.region
join {{ ref('history') }} as h on h.id = r.id
join of_day as d on d.region = r.id
join {{ ref('latest') }} as l on l.region = r.id
"""
DAYS = (
    "{{ config(materialized='ephemeral') }} select region, cast(at as date) as day from {{ ref('staged') }}"
)
RANDOM = """
{{ config(materialized='table', file_format='delta') }}
select id,
  rand() as r
from {{ ref('latest') }}
"""
BROKEN = """
{{ config(materialized='table') }}
select l.id, l.nothing
from {{ ref('latest') }} as l
"""
WITH_HEADER = """
{{ config(materialized='incremental_view', sql_header="set spark.sql.ansi.enabled = false") }}
select id, cast(region as tinyint) as region from {{ ref('staged') }}
"""
SNAPSHOTS = """
snapshots:
  - name: history
    relation: ref('regions')
    config: {strategy: check, unique_key: id, check_cols: [name], file_format: delta}
"""
SEEDS = {"regions.csv": "id,name\n1,North\n2,South\n"}
ORDERS = "create table {schema}.orders (id int, region int, amount decimal(10,2), at timestamp) using delta"
MODELS = {
    "sources.yml": SOURCES,
    "staged.sql": STAGED,
    "sales.sql": SALES,
    "latest.sql": LATEST,
    "days.sql": DAYS,
    "joined.sql": JOINED,
    "random.sql": RANDOM,
    "broken.sql": BROKEN,
    "over_broken.sql": "{{ config(materialized='view') }} select * from {{ ref('broken') }}",
    "of_missing.sql": "{{ config(materialized='view') }} select * from {{ source('shop', 'missing') }}",
    "wrong_jinja.sql": "select {% if execute %}{{ exceptions.raise_compiler_error('no such thing') }}{% endif %} 1 as a",
    "with_header.sql": WITH_HEADER,
}
VERDICTS = {
    "sales": "incremental",
    "staged": "incremental",
    "latest": "incremental",
    "joined": "incremental",
    "with_header": "incremental",
    "random": "full",
    "broken": "unknown",
    "over_broken": "unknown",
    "of_missing": "unknown",
    "wrong_jinja": "unknown",
}
