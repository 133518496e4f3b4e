with joined as (
  select c.id as comment_id, c.ticket_id, c.user_id, c.public, cast(c.created as timestamp) as created_at, u.role,
    case when u.role = 'end-user' then 'outside' when u.role in ('agent', 'admin') then 'inside' else 'unknown' end as side
  from {{ ref('comment') }} as c left join {{ ref('user') }} as u on u.id = c.user_id
)
select *, coalesce(lag(side) over (partition by ticket_id order by created_at, comment_id), 'first comment') as previous_role
from joined
