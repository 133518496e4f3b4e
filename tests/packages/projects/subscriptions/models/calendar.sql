select cast(month as date) as month from (select min(begins) as first, max(ends) as last from {{ ref('contract') }})
lateral view explode(sequence(date_trunc('month', first), date_trunc('month', last), interval 1 month)) as month
