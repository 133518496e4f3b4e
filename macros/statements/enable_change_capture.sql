{% macro enable_change_capture(table) -%}
  {{ return(adapter.dispatch('enable_change_capture', 'dbt')(table)) }}
{%- endmacro %}

{% macro default__enable_change_capture(table) -%}
alter table {{ table }} set tblproperties (delta.enableChangeDataFeed = true)
{%- endmacro %}
