select charge_id, customer_id, amount, created_at from (
  select *, row_number() over (partition by customer_id order by created_at desc, charge_id) as n from {{ ref('charges') }}
) where n <= 2
