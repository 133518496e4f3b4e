select v.visit, v.person, v.at, v.channel, p.at as bought_at, p.euro,
  count(*) over w as visits, row_number() over (partition by v.person order by v.at, v.visit) as position
from {{ ref('visit') }} as v
join {{ ref('purchase') }} as p on p.person = v.person and v.at between p.at - interval 30 days and p.at
window w as (partition by v.person)
