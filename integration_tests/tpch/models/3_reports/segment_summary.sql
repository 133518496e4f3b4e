select
  c_mktsegment as segment,
  count(*) as customers,
  count(revenue) as customers_with_orders,
  sum(revenue) as revenue,
  avg(lines) as average_lines,
  max(latest_order) as latest_order
from {{ ref('revenue_by_customer') }}
group by c_mktsegment
