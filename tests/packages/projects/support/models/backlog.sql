with spine as (select explode(sequence(date '2026-11-20', date '2026-12-20', interval 1 day)) as day)
select d.day, s.status, count(*) as tickets
from spine as d join {{ ref('ticket_statuses') }} as s on d.day >= cast(s.valid_starting_at as date) and d.day < cast(s.valid_ending_at as date)
where s.status not in ('solved', 'closed') group by d.day, s.status
