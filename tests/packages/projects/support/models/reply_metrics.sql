select ticket_id, min(minutes) as fastest, max(minutes) as slowest, percentile(minutes, 0.5) as median_minutes, count(*) as replies from {{ ref('reply_times') }} group by ticket_id
