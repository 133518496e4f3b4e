select id as refund_id, charge as charge_id, amount, reason, cast(created as timestamp) as created_at from {{ ref('refund') }}
