select id as ticket_id, requester_id, assignee_id, group_id, subject, priority, status, cast(created_at as timestamp) as created_at from {{ ref('ticket') }} where not coalesce(_deleted, false)
