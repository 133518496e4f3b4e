select * from {{ ref('charges') }} where status <> 'succeeded' or status is null
