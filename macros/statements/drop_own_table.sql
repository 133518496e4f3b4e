{% macro drop_own_table(table, purge=false) -%}
  {{ return(adapter.dispatch('drop_own_table', 'dbt')(table, purge)) }}
{%- endmacro %}

{% macro default__drop_own_table(table, purge) -%}
drop table if exists {{ table }}{{ ' purge' if purge }}
{%- endmacro %}
