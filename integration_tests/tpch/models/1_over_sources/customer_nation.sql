select
  c_custkey,
  c_name,
  c_mktsegment,
  n_name as nation,
  r_name as region
from {{ source('tpch', 'customer') }}
left join {{ source('tpch', 'nation') }} on n_nationkey = c_nationkey
left join {{ source('tpch', 'region') }} on r_regionkey = n_regionkey
