select distinct
  c.c_mktsegment as segment,
  c.nation,
  year(o.o_orderdate) as order_year
from {{ source('tpch', 'orders') }} as o
join {{ ref('customer_nation') }} as c on c.c_custkey = o.o_custkey
