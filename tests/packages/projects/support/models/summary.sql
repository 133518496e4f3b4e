select count(*) as tickets, sum(case when status = 'solved' then 1 else 0 end) as solved, count(distinct requester_id) as requesters,
  sum(case when assignee_id is null then 1 else 0 end) as unassigned, avg(minutes_open) as average_open
from {{ ref('ticket_list') }}
