select owner, stage, count(*) as deals, sum(amount) as amount, sum(case when is_large then amount else 0 end) as large_amount,
  rank() over (partition by owner order by sum(amount) desc nulls last, stage) as stage_rank
from {{ ref('deals') }} group by owner, stage
