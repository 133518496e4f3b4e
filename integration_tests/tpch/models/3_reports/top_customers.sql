select c_custkey, c_name, nation, revenue
from {{ ref('revenue_by_customer') }}
where revenue is not null
order by revenue desc, c_custkey
limit 20
