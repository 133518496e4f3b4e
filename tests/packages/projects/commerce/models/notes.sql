select order_id, trim(note) as note from {{ ref('sales') }} lateral view explode(notes) as note where note <> ''
