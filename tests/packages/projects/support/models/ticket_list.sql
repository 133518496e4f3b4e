select t.*, a.name as assignee_name, q.name as requester_name, q.email as requester_email, s.minutes_open, s.minutes_pending, s.last_solved_at,
  g.tags, l.sla, coalesce(t.assignee_id in (select id from {{ ref('user') }} where role = 'admin'), false) as is_with_admin
from {{ ref('tickets') }} as t
left join {{ ref('user') }} as a on a.id = t.assignee_id
left join {{ ref('user') }} as q on q.id = t.requester_id
left join {{ ref('time_in_status') }} as s on s.ticket_id = t.ticket_id
left join {{ ref('ticket_tags') }} as g on g.ticket_id = t.ticket_id
left join {{ ref('sla') }} as l on l.ticket_id = t.ticket_id
