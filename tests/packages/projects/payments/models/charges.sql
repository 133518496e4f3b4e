{% set columns = ['id', 'customer', 'amount', 'currency', 'status', 'created', 'balance_transaction', 'invoice', 'metadata'] %}
with base as (select * from {{ ref('charge') }}),
fields as (select {% for column in columns %} {{ column }} {{ ',' if not loop.last }} {% endfor %}, cast('' as string) as source_relation from base)
select id as charge_id, customer as customer_id, amount, lower(currency) as currency, status,
  cast(created as timestamp) as created_at, balance_transaction as balance_transaction_id, invoice as invoice_id,
  get_json_object(metadata, '$.channel') as channel, source_relation
from fields
