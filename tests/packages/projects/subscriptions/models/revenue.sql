select m.account, m.month, coalesce(sum(c.euro), 0) as euro, count(c.nr) as contracts
from {{ ref('account_months') }} as m
left join {{ ref('contract') }} as c on c.account = m.account and m.month >= c.begins and (m.month < c.ends or c.ends is null)
group by m.account, m.month
