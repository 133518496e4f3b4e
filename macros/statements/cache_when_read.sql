{% macro cache_when_read(name) -%}
  {{ return(adapter.dispatch('cache_when_read', 'dbt')(name)) }}
{%- endmacro %}

{#- caches a view of `keep_in_memory`: the first statement that reads its rows computes them -#}
{% macro default__cache_when_read(name) -%}
cache lazy table {{ name }} options ('storageLevel' 'MEMORY_AND_DISK')
{%- endmacro %}
