{% macro drop_own_view(view) -%}
  {{ return(adapter.dispatch('drop_own_view', 'dbt')(view)) }}
{%- endmacro %}

{% macro default__drop_own_view(view) -%}
drop view if exists {{ view }}
{%- endmacro %}
