{% macro append_state(state, columns, select) -%}
  {{ return(adapter.dispatch('append_state', 'dbt')(state, columns, select)) }}
{%- endmacro %}

{% macro default__append_state(state, columns, select) -%}
insert into {{ state }} ({{ columns | join(', ') }})
{{ select }}
{%- endmacro %}
