select month, movement, count(*) as accounts, sum(moved) as moved from {{ ref('movements') }} where movement is not null group by 1, 2
