-- The chain, from rows to a ranking: projection, join, aggregate, aggregate of it, window.
select id, customer_id, category, at, amount * quantity as total
from {{ source('fixed', 'facts') }}
where quantity > 0
