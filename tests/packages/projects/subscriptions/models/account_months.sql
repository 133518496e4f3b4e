select a.account, c.month from {{ ref('calendar') }} as c
join (select account, min(begins) as begins, max(ends) as ends from {{ ref('contract') }} group by account) as a
  on c.month >= trunc(a.begins, 'MM') and c.month <= a.ends
