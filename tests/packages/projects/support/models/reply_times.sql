with replies as (
  select e.ticket_id, e.created_at as asked_at, min(i.created_at) as answered_at
  from {{ ref('messages') }} as e
  join {{ ref('messages') }} as i on i.ticket_id = e.ticket_id and i.side = 'inside' and i.created_at > e.created_at
  where e.side = 'outside' group by e.ticket_id, e.created_at
)
select *, (unix_timestamp(answered_at) - unix_timestamp(asked_at)) / 60 as minutes from replies
