select l.id, l.category, l.at, l.total, c.name, c.region
from {{ ref('chain_1') }} as l
join {{ source('fixed', 'customers') }} as c on c.id = l.customer_id
