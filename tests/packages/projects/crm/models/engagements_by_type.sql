select * from (select deal_id, type from {{ ref('engagement') }})
pivot (sum(1) for type in ('EMAIL' as emails, 'CALL' as calls, 'MEETING' as meetings))
