select b.balance_transaction_id, b.available_on, b.amount, b.fee, b.net, b.type,
  case when b.type in ('charge', 'payment') then 'charge' when b.type = 'refund' then 'refund' else 'other' end as kind,
  coalesce(c.charge_id, r.charge_id) as charge_id, c.customer_id, c.channel, r.reason as refund_reason
from {{ ref('movements') }} as b
left join {{ ref('charges') }} as c on c.balance_transaction_id = b.balance_transaction_id
left join {{ ref('refunds') }} as r on r.refund_id = b.source_id
