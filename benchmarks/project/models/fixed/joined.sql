select f.id, f.at, f.amount, c.name, c.region
from {{ source('fixed', 'facts') }} as f
join {{ source('fixed', 'customers') }} as c on c.id = f.customer_id
