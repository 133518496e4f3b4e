with lines as (
  select order_id, count(*) as lines, sum(quantity) as items, sum(gross) as gross, sum(net) as net, concat_ws(', ', sort_array(collect_set(vendor))) as vendors
  from {{ ref('valued_lines') }} group by order_id
),
joined as (
  select o.*, l.lines, l.items, l.gross, l.net, l.vendors from {{ ref('sales') }} as o left join lines as l on l.order_id = o.order_id
),
numbered as (select *, row_number() over (partition by customer_id order by created_at, order_id) as seq from joined)
select *, case when seq = 1 then 'new' else 'repeat' end as kind_of_buyer from numbered
