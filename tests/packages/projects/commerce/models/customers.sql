select c.id as customer_id, c.email, count(o.order_id) as orders, coalesce(sum(o.net), 0) as lifetime_value, min(o.created_at) as first_order,
  max(o.created_at) as last_order, stddev(o.net) as spread
from {{ ref('customers_raw') }} as c
left join {{ ref('valued_orders') }} as o on o.customer_id = c.id and not o.is_cancelled
group by c.id, c.email
