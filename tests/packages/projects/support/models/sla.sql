select t.ticket_id, t.priority, p.target_minutes, r.fastest,
  case when r.fastest is null then 'open' when r.fastest <= p.target_minutes then 'met' else 'breached' end as sla
from {{ ref('tickets') }} as t
left join (values ('urgent', 60), ('high', 240), ('normal', 1440), ('low', 2880)) as p (priority, target_minutes) on p.priority = t.priority
left join {{ ref('reply_metrics') }} as r using (ticket_id)
