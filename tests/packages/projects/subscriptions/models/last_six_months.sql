select * from {{ ref('movements') }} where month >= add_months(current_date, -6)
