select * from {{ ref('valued_products') }} where net is not null order by net desc, product_id limit 3
