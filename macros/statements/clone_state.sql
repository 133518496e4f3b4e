{% macro clone_state(state, origin, version, tblproperties={}, location=none) -%}
  {{ return(adapter.dispatch('clone_state', 'dbt')(state, origin, version, tblproperties, location)) }}
{%- endmacro %}

{#- a copy that shares the origin's files -#}
{% macro default__clone_state(state, origin, version, tblproperties, location) -%}
create table {{ state }}
shallow clone {{ origin }} version as of {{ version }}
{{- _tblproperties_clause(tblproperties) }}
{%- if location %}
location {{ _string_literal(location) }}
{%- endif %}
{%- endmacro %}
