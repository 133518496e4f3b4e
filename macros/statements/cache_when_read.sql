{% macro cache_when_read(name) -%}
  {{ return(adapter.dispatch('cache_when_read', 'dbt')(name)) }}
{%- endmacro %}

{#- the rows of a view that `keep_in_memory` made are computed by the first statement that reads them -#}
{% macro default__cache_when_read(name) -%}
cache lazy table {{ name }} options ('storageLevel' 'MEMORY_AND_DISK')
{%- endmacro %}
