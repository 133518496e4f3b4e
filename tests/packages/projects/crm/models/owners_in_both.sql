select owner_id from {{ ref('deal') }} where amount > 1000 intersect select id from {{ ref('owner') }}
