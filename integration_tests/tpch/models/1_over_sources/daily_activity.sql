with events as (

  select o_orderdate as day, 'ordered' as event, revenue from {{ ref('order_lines') }}
  union all
  select l_shipdate as day, 'shipped' as event, revenue from {{ ref('order_lines') }}

)

select
  day,
  event,
  count(*) as lines,
  sum(revenue) as revenue
from events
group by day, event
