with totals as (
  select customer_id, sum(case when kind = 'charge' then amount else 0 end) as total_sales,
    sum(case when kind = 'refund' then amount else 0 end) as total_refunds, sum(net) as total_net, sum(fee) as total_fees,
    count(case when kind = 'charge' then 1 end) as sales_count, min(available_on) as first_sale, max(available_on) as last_sale
  from {{ ref('postings') }} group by customer_id
),
failed as (select customer_id, count(*) as failures, sum(amount) as failed_amount from {{ ref('failed_charges') }} group by 1)
select t.*, coalesce(f.failures, 0) as failures, coalesce(f.failed_amount, 0) as failed_amount,
  round(t.total_refunds * 100.0 / nullif(t.total_sales, 0), 2) as refund_percent,
  concat_ws(', ', cast(t.sales_count as string), cast(t.total_net as string)) as label
from totals as t left join failed as f on f.customer_id <=> t.customer_id
