select ticket_id, {% for status in ['new', 'open', 'pending', 'hold', 'solved'] %}
  sum(case when status = '{{ status }}' then minutes else 0 end) as minutes_{{ status }}, {% endfor %}
  count(*) as changes, max(case when status = 'solved' then valid_starting_at end) as last_solved_at
from {{ ref('ticket_statuses') }} group by ticket_id
