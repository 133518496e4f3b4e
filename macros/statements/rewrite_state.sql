{% macro rewrite_state(state, columns, select) -%}
  {{ return(adapter.dispatch('rewrite_state', 'dbt')(state, columns, select)) }}
{%- endmacro %}

{% macro default__rewrite_state(state, columns, select) -%}
insert overwrite {{ state }} ({{ columns | join(', ') }})
{{ select }}
{%- endmacro %}
