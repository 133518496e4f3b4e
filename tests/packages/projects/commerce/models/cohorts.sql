with firsts as (select customer_id, date_trunc('month', min(created_at)) as cohort from {{ ref('sales') }} group by 1),
activity as (
  select f.cohort, date_trunc('month', o.created_at) as month, o.customer_id, o.net
  from {{ ref('valued_orders') }} as o join firsts as f on f.customer_id = o.customer_id
),
monthly as (select cohort, month, count(distinct customer_id) as customers, sum(net) as net from activity group by 1, 2)
select *, cast(months_between(month, cohort) as int) as cohort_month, sum(net) over (partition by cohort order by month) as net_so_far,
  first_value(customers) over (partition by cohort order by month) as cohort_size
from monthly
