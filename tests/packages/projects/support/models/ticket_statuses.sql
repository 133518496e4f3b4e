select ticket_id, value as status, valid_starting_at, coalesce(valid_ending_at, timestamp '2027-01-10 00:00:00') as valid_ending_at,
  (unix_timestamp(coalesce(valid_ending_at, timestamp '2027-01-10 00:00:00')) - unix_timestamp(valid_starting_at)) / 60 as minutes
from {{ ref('history') }} where field_name = 'status'
