select c.id, c.email, c.created from {{ ref('customer') }} as c
where not exists (select 1 from {{ ref('charges') }} as h where h.customer_id = c.id and h.status = 'succeeded')
