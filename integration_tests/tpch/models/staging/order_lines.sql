-- An ordinary view, as staging models often are: the incremental views that read it are compiled through it.
{{ config(materialized='view') }}

select
  o_orderkey,
  l_linenumber,
  o_custkey,
  l_suppkey,
  o_orderdate,
  l_shipdate,
  l_returnflag,
  l_quantity,
  l_extendedprice * (1 - l_discount) as revenue,
  l_receiptdate > l_commitdate as is_late
from {{ source('tpch', 'orders') }}
join {{ source('tpch', 'lineitem') }} on l_orderkey = o_orderkey
