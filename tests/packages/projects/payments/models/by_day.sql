with daily as (
  select date_trunc('day', available_on) as day, sum(amount) as amount, sum(fee) as fee, count(*) as transactions
  from {{ ref('postings') }} group by 1
)
select *, sum(amount) over (order by day rows unbounded preceding) as rolling_amount,
  sum(transactions) over (order by day rows between 6 preceding and current row) as transactions_of_a_week
from daily
