select date_trunc('month', bought_at) as month, coalesce(channel, 'direct') as channel, count(distinct person) as people,
  sum(equal_share) as equal_share, sum(for_the_first) as for_the_first, max(growing_share) as greatest_share
from {{ ref('credits') }} group by 1, 2
