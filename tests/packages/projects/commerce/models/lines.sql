select id as line_id, order_id, product_id, quantity, cast(price as decimal(12, 2)) as price, coalesce(cast(discount as decimal(12, 2)), 0) as discount from {{ ref('order_lines') }}
