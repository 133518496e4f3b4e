select nr as order_nr, person, cast(placed as date) as placed_on, state from {{ ref('order_file') }}
