select region, category, month(at) as month, sum(n) as n, sum(total) as total, max(largest) as largest
from {{ ref('chain_3') }}
group by region, category, month(at)
