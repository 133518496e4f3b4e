{% macro unstage_step(table) -%}
  {{ return(adapter.dispatch('unstage_step', 'dbt')(table)) }}
{%- endmacro %}

{% macro default__unstage_step(table) -%}
drop table if exists {{ table }}
{%- endmacro %}
