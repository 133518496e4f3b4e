select
  c.region,
  c.nation,
  count(*) as lines,
  sum(l.revenue) as revenue,
  sum(case when l.l_returnflag = 'R' then l.revenue end) as returned_revenue
from {{ ref('order_lines') }} as l
join {{ ref('customer_nation') }} as c on c.c_custkey = l.o_custkey
group by c.region, c.nation
having count(*) >= 100
