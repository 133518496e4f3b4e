select c.region, f.category, count(*) as n, sum(f.amount) as amount
from {{ source('fixed', 'facts') }} as f
join {{ source('fixed', 'customers') }} as c on c.id = f.customer_id
group by c.region, f.category
