select date_trunc('month', placed_on) as month, state, count(distinct person) as people, sum(euro) as euro, avg(euro) as mean_euro
from {{ ref('paid_orders') }} where euro is not null group by 1, 2 having count(*) > 1 order by 1, 2
