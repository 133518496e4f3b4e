with in_euro as (select nr, order_nr, means, cast(cents / 100 as decimal(12, 2)) as euro from {{ ref('receipt_file') }})
select * from in_euro
