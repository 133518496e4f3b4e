{% macro rebuild_state(state, select, partition_by=[], liquid_clustered_by=[], tblproperties={}, location=none, provider='delta') -%}
  {{ return(adapter.dispatch('rebuild_state', 'dbt')(state, select, partition_by, liquid_clustered_by, tblproperties, location, provider)) }}
{%- endmacro %}

{% macro default__rebuild_state(state, select, partition_by, liquid_clustered_by, tblproperties, location, provider) -%}
create or replace table {{ state }}
using {{ provider }}
{%- if location %}
location {{ _string_literal(location) }}
{%- endif %}
{%- if partition_by %}
partitioned by ({{ partition_by | join(', ') }})
{%- endif %}
{%- if liquid_clustered_by %}
cluster by ({{ liquid_clustered_by | join(', ') }})
{%- endif %}
{{- _tblproperties_clause(tblproperties) }}
as
{{ select }}
{%- endmacro %}
