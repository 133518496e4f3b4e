{% macro stage_changes(name, select, later) -%}
  {{ return(adapter.dispatch('stage_changes', 'dbt')(name, select, later)) }}
{%- endmacro %}

{#- a temporary view that is computed once: now, or `later` by the first statement that reads it -#}
{% macro default__stage_changes(name, select, later) -%}
cache {{ 'lazy ' if later }}table {{ name }} options ('storageLevel' 'MEMORY_AND_DISK') as
{{ select }}
{%- endmacro %}
