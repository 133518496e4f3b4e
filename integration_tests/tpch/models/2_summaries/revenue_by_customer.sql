select
  c.c_custkey,
  c.c_name,
  c.c_mktsegment,
  c.nation,
  count(l.o_orderkey) as lines,
  sum(l.revenue) as revenue,
  min(l.o_orderdate) as first_order,
  max(l.o_orderdate) as latest_order
from {{ ref('customer_nation') }} as c
left join {{ ref('order_lines') }} as l on l.o_custkey = c.c_custkey
group by c.c_custkey, c.c_name, c.c_mktsegment, c.nation
