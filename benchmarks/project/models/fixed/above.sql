select c.region, month(b.at) as month, sum(b.n) as n, sum(b.amount) as amount
from {{ ref('below') }} as b
join {{ source('fixed', 'customers') }} as c on c.id = b.customer_id
group by c.region, month(b.at)
