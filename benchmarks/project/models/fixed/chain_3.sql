select region, category, at, count(*) as n, sum(total) as total, max(total) as largest
from {{ ref('chain_2') }}
group by region, category, at
