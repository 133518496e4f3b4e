{% set means = ['card', 'voucher', 'transfer', 'cash'] %}
select o.order_nr, o.person, o.placed_on, o.state, r.*,
  row_number() over (partition by o.person order by o.placed_on, o.order_nr) as nth_of_person
from {{ ref('orders') }} as o left join (
  select order_nr as paid_order
    {% for one in means %}, sum(if(means = '{{ one }}', euro, 0)) as by_{{ one }} {% endfor %}
    , sum(euro) as euro
  from {{ ref('receipts') }} group by 1
) as r on r.paid_order = o.order_nr
