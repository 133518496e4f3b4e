{% macro drop_state(state) -%}
  {{ return(adapter.dispatch('drop_state', 'dbt')(state)) }}
{%- endmacro %}

{% macro default__drop_state(state) -%}
drop table if exists {{ state }}
{%- endmacro %}
