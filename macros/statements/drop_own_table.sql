{% macro drop_own_table(table) -%}
  {{ return(adapter.dispatch('drop_own_table', 'dbt')(table)) }}
{%- endmacro %}

{% macro default__drop_own_table(table) -%}
drop table if exists {{ table }}
{%- endmacro %}
