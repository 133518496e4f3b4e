select ticket_id, subject, datediff(current_date, cast(created_at as date)) as age_days from {{ ref('tickets') }} where status = 'new' and created_at < current_timestamp - interval 20 days
