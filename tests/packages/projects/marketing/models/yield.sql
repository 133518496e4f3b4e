with costs as (select date_trunc('month', day) as month, channel, sum(euro) as euro from {{ ref('cost') }} group by 1, 2)
select coalesce(k.month, c.month) as month, coalesce(k.channel, c.channel) as channel, k.euro as cost, c.equal_share,
  c.equal_share / nullif(k.euro, 0) as yield
from costs as k full outer join {{ ref('channels') }} as c on c.month = k.month and c.channel = k.channel
