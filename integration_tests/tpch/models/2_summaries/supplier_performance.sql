select
  s.s_suppkey,
  s.s_name,
  count(l.o_orderkey) as lines,
  sum(l.revenue) as revenue,
  avg(l.l_quantity) as average_quantity,
  min(l.l_shipdate) as first_shipment,
  max(l.l_shipdate) as latest_shipment,
  sum(case when l.is_late then 1 else 0 end) as late_lines
from {{ source('tpch', 'supplier') }} as s
left join {{ ref('order_lines') }} as l on l.l_suppkey = s.s_suppkey
group by s.s_suppkey, s.s_name
