with current_stage as (select deal_id, stage, entered_at from {{ ref('stages') }} where is_current),
engaged as (
  select deal_id, count(*) as engagements, count(case when type = 'EMAIL' then 1 end) as emails, max(at) as last_at
  from {{ ref('engagement') }} group by deal_id
)
select d.id as deal_id, d.name, d.amount, coalesce(o.email, 'nobody') as owner, s.stage, s.entered_at, e.engagements, e.emails, e.last_at,
  d.amount >= (select avg(amount) from {{ ref('deal') }}) as is_large
from {{ ref('deal') }} as d
left join {{ ref('owner') }} as o on o.id = d.owner_id
left join current_stage as s on s.deal_id = d.id
left join engaged as e on e.deal_id = d.id
