select ticket_id, concat_ws(',', sort_array(collect_set(tag))) as tags, count(distinct tag) as n from {{ ref('ticket_tag') }} group by ticket_id
