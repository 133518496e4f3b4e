{% macro stage_step(table, select, tblproperties={}) -%}
  {{ return(adapter.dispatch('stage_step', 'dbt')(table, select, tblproperties)) }}
{%- endmacro %}

{#- a part of a large plan, computed once; the refresh drops the table when it ends -#}
{% macro default__stage_step(table, select, tblproperties) -%}
create table {{ table }} using parquet
{{- _tblproperties_clause(tblproperties) }}
as
{{ select }}
{%- endmacro %}
