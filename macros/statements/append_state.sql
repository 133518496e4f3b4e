{% macro append_state(state, columns, select, options={}) -%}
  {{ return(adapter.dispatch('append_state', 'dbt')(state, columns, select, options)) }}
{%- endmacro %}

{% macro default__append_state(state, columns, select, options) -%}
{%- if options -%}
{#- Iceberg checks for other commits only in this form; the columns are in the table's order -#}
insert into {{ state }}{{ _options_clause(options) }} replace where false
{%- else -%}
insert into {{ state }} ({{ columns | join(', ') }})
{%- endif %}
{{ select }}
{%- endmacro %}
