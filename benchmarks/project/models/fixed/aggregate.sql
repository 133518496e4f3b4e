select category, count(*) as n, sum(amount) as amount, avg(quantity) as average_quantity
from {{ source('fixed', 'facts') }}
group by category
