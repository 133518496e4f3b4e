select deal_id, cast(at as timestamp) as at, concat('engagement: ', lower(type)) as event from {{ ref('engagement') }}
union all
select deal_id, entered_at, concat('stage: ', stage) from {{ ref('stages') }}
union all
select id, cast(created as timestamp), 'created' from {{ ref('deal') }}
