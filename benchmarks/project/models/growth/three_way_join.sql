-- A wide join without an aggregate: a row per lineitem, 6 million at scale factor 1, with the keys of all three tables.
select
  c_custkey,
  o_orderkey,
  l_linenumber,
  c_name,
  c_mktsegment,
  o_orderdate,
  o_orderstatus,
  l_partkey,
  l_suppkey,
  l_quantity,
  l_extendedprice,
  l_discount,
  l_shipdate
from {{ source('tpch', 'customer') }}
join {{ source('tpch', 'orders') }} on o_custkey = c_custkey
join {{ source('tpch', 'lineitem') }} on l_orderkey = o_orderkey
