{% macro stage_step(table, select) -%}
  {{ return(adapter.dispatch('stage_step', 'dbt')(table, select)) }}
{%- endmacro %}

{#- a part of a large plan, computed once; the table is gone when the refresh ends -#}
{% macro default__stage_step(table, select) -%}
create table {{ table }} using parquet as
{{ select }}
{%- endmacro %}
