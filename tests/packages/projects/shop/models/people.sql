select id as person, concat_ws(' ', trim(given), trim(family)) as name from {{ ref('person_file') }}
