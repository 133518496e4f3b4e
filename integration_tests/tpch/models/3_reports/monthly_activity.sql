select
  date_trunc('month', day) as month,
  event,
  sum(lines) as lines,
  sum(revenue) as revenue,
  max(revenue) as best_day
from {{ ref('daily_activity') }}
group by date_trunc('month', day), event
