select id as balance_transaction_id, amount, fee, net, type, cast(available_on as timestamp) as available_on, source as source_id from {{ ref('balance_transaction') }}
