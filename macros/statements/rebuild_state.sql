{% macro rebuild_state(state, select, partition_by=[], liquid_clustered_by=[], tblproperties={}, location=none) -%}
  {{ return(adapter.dispatch('rebuild_state', 'dbt')(state, select, partition_by, liquid_clustered_by, tblproperties, location)) }}
{%- endmacro %}

{% macro default__rebuild_state(state, select, partition_by, liquid_clustered_by, tblproperties, location) -%}
create or replace table {{ state }}
using delta
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
