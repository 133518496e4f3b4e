select *, rank() over (partition by month order by total desc) as place
from {{ ref('chain_4') }}
