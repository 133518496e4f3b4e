{% macro rewrite_state(state, columns, select, options={}) -%}
  {{ return(adapter.dispatch('rewrite_state', 'dbt')(state, columns, select, options)) }}
{%- endmacro %}

{% macro default__rewrite_state(state, columns, select, options) -%}
insert overwrite {{ state }}{{ _options_clause(options) }} ({{ columns | join(', ') }})
{{ select }}
{%- endmacro %}
