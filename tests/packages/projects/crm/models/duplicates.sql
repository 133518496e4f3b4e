select d.* from {{ ref('deal') }} as d
join (select lower(name) as plain from {{ ref('deal') }} group by 1 having count(*) > 1) as n on n.plain = lower(d.name)
