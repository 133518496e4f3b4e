-- V1 of "Lazy Maintenance of Materialized Views": joins of four tables, added up by nation and market segment.
select
  n_name,
  c_mktsegment,
  count(*) as totalcnt,
  sum(l_extendedprice) as totalprice,
  sum(l_quantity) as totalquantity
from {{ source('tpch', 'customer') }}, {{ source('tpch', 'orders') }}, {{ source('tpch', 'lineitem') }}, {{ source('tpch', 'nation') }}
where c_custkey = o_custkey
  and o_orderkey = l_orderkey
  and n_nationkey = c_nationkey
group by n_name, c_mktsegment
