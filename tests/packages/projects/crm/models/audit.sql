select deal_id, stage, '{{ invocation_id }}' as run_id from {{ ref('deals') }}
