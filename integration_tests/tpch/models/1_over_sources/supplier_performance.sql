select
  l_suppkey,
  count(*) as lines,
  sum(revenue) as revenue,
  avg(l_quantity) as average_quantity,
  sum(case when is_late then 1 else 0 end) as late_lines
from {{ ref('order_lines') }}
group by l_suppkey
