select date_trunc('week', created_at) as week, financial_status, count(*) as orders, collect_list(order_id) as order_ids from {{ ref('sales') }} group by 1, 2
