select owner, stage, grouping(stage) as is_total, sum(amount) as amount from {{ ref('deals') }} group by rollup (owner, stage)
