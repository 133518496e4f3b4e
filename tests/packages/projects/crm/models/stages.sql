select d.id as deal_id, d.name, d.amount, d.owner_id, h.stage, cast(h.entered_at as timestamp) as entered_at,
  lead(cast(h.entered_at as timestamp)) over (partition by d.id order by h.entered_at) as left_at,
  rank() over (partition by d.id order by h.entered_at desc) = 1 as is_current
from {{ ref('deal') }} as d join {{ ref('deal_stage') }} as h on h.deal_id = d.id
