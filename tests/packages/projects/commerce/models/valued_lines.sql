with refunded as (select line_id, sum(quantity) as quantity, sum(cast(subtotal as decimal(12, 2))) as subtotal from {{ ref('refund_lines') }} group by line_id)
select l.*, coalesce(r.quantity, 0) as refunded_quantity, l.quantity - coalesce(r.quantity, 0) as net_quantity,
  l.price * l.quantity - l.discount as gross, l.price * l.quantity - l.discount - coalesce(r.subtotal, 0) as net, p.title, p.vendor
from {{ ref('lines') }} as l left join refunded as r on r.line_id = l.line_id left join {{ ref('products') }} as p on p.id = l.product_id
