select
  c_mktsegment as segment,
  count(*) as customers,
  sum(revenue) as revenue,
  avg(lines) as average_lines,
  max(revenue) as best_customer
from {{ ref('revenue_by_customer') }}
group by c_mktsegment
