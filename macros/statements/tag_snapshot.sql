{% macro tag_snapshot(table, tag, snapshot, minutes) -%}
  {{ return(adapter.dispatch('tag_snapshot', 'dbt')(table, tag, snapshot, minutes)) }}
{%- endmacro %}

{#- needs Iceberg's extension of Spark's SQL; minutes count from the time of the snapshot -#}
{% macro default__tag_snapshot(table, tag, snapshot, minutes) -%}
alter table {{ table }} create or replace tag {{ tag }} as of version {{ snapshot }} retain {{ minutes }} minutes
{%- endmacro %}
