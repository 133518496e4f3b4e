with beside as (
  select *, lag(euro, 1, 0) over (partition by account order by month) as was,
    max(euro) over (partition by account order by month rows between unbounded preceding and 1 preceding) as most_before
  from {{ ref('revenue') }}
)
select md5(concat_ws('/', cast(account as string), cast(month as string))) as id, account, month, euro, euro - was as moved,
  case when euro > 0 and most_before is null then 'start' when euro = 0 and was > 0 then 'stop'
    when euro > 0 and was = 0 then 'return' when euro > was then 'more' when euro < was then 'less' end as movement
from beside
