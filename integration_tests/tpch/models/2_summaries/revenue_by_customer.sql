select
  c.c_custkey,
  c.c_name,
  c.c_mktsegment,
  c.nation,
  count(*) as lines,
  sum(l.revenue) as revenue
from {{ ref('customer_nation') }} as c
join {{ ref('order_lines') }} as l on l.o_custkey = c.c_custkey
group by c.c_custkey, c.c_name, c.c_mktsegment, c.nation
