select least(a.product_id, b.product_id) as one, greatest(a.product_id, b.product_id) as other, count(*) as times
from {{ ref('lines') }} as a join {{ ref('lines') }} as b on b.order_id = a.order_id and b.product_id > a.product_id group by 1, 2
