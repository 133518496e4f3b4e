-- V2 of "Lazy Maintenance of Materialized Views": orders whose customer and supplier come from different nations. The
-- paper shortens the list of columns; here are those of the line besides.
select
  s_name,
  c_name,
  c_mktsegment,
  ps_comment,
  o_orderkey,
  l_linenumber,
  l_quantity,
  l_extendedprice
from {{ source('tpch', 'customer') }}, {{ source('tpch', 'orders') }}, {{ source('tpch', 'lineitem') }},
  {{ source('tpch', 'supplier') }}, {{ source('tpch', 'partsupp') }}
where c_custkey = o_custkey
  and o_orderkey = l_orderkey
  and l_suppkey = ps_suppkey
  and l_partkey = ps_partkey
  and ps_suppkey = s_suppkey
  and s_nationkey <> c_nationkey
