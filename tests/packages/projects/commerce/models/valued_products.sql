select p.id as product_id, p.title, p.vendor, sum(l.net_quantity) as sold, sum(l.net) as net, avg(l.price) as average_price, max(o.created_at) as last_sold_at
from {{ ref('products') }} as p
left join {{ ref('valued_lines') }} as l on l.product_id = p.id
left join {{ ref('sales') }} as o on o.order_id = l.order_id
group by p.id, p.title, p.vendor
