select *, if(position = 1, euro, 0) as for_the_first, if(position = visits, euro, 0) as for_the_last, euro / visits as equal_share,
  euro * position / sum(position) over (partition by person) as growing_share
from {{ ref('visits_before_purchase') }}
