select id, customer_id, amount * quantity as total, year(at) as year
from {{ source('fixed', 'facts') }}
where quantity > 0
