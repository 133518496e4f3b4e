{% macro unstage_changes(name) -%}
  {{ return(adapter.dispatch('unstage_changes', 'dbt')(name)) }}
{%- endmacro %}

{% macro default__unstage_changes(name) -%}
drop view if exists {{ name }}
{%- endmacro %}
