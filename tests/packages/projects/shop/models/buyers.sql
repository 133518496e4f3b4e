with ordered as (
  select person, min(placed_on) as since, max(placed_on) as until, count(order_nr) as orders from {{ ref('orders') }} group by person
),
paid as (
  select person, sum(euro) as euro from {{ ref('receipts') }} left join {{ ref('orders') }} using (order_nr) group by person
)
select p.*, o.since, o.until, coalesce(o.orders, 0) as orders, paid.euro as worth
from {{ ref('people') }} as p left join ordered as o using (person) left join paid using (person)
