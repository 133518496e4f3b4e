-- The shape of TPC-H query 5: six tables, filters on two of them, a small result.
select
  n_name,
  sum(l_extendedprice * (1 - l_discount)) as revenue
from {{ source('tpch', 'customer') }}
join {{ source('tpch', 'orders') }} on c_custkey = o_custkey
join {{ source('tpch', 'lineitem') }} on l_orderkey = o_orderkey
join {{ source('tpch', 'supplier') }} on l_suppkey = s_suppkey and c_nationkey = s_nationkey
join {{ source('tpch', 'nation') }} on s_nationkey = n_nationkey
join {{ source('tpch', 'region') }} on n_regionkey = r_regionkey
where r_name = 'ASIA'
  and o_orderdate >= date '1994-01-01'
  and o_orderdate < date '1995-01-01'
group by n_name
