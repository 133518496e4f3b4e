{% macro drop_tag(table, tag) -%}
  {{ return(adapter.dispatch('drop_tag', 'dbt')(table, tag)) }}
{%- endmacro %}

{% macro default__drop_tag(table, tag) -%}
alter table {{ table }} drop tag if exists {{ tag }}
{%- endmacro %}
