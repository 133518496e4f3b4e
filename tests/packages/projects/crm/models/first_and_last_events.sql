select deal_id, min_by(event, struct(at, event)) as first_event, max_by(event, struct(at, event)) as last_event, count(*) as events
from {{ ref('all_events') }} group by deal_id
