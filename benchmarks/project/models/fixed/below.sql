select customer_id, at, count(*) as n, sum(amount) as amount
from {{ source('fixed', 'facts') }}
group by customer_id, at
