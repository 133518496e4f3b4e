{% macro refresh_source(source) -%}
  {{ return(adapter.dispatch('refresh_source', 'dbt')(source)) }}
{%- endmacro %}

{% macro default__refresh_source(source) -%}
refresh table {{ source }}
{%- endmacro %}
