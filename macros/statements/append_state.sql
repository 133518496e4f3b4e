{% macro append_state(state, columns, select, options={}) -%}
  {{ return(adapter.dispatch('append_state', 'dbt')(state, columns, select, options)) }}
{%- endmacro %}

{% macro default__append_state(state, columns, select, options) -%}
{%- if options -%}
{#- only in this form does Iceberg check for other commits; the columns are in the table's order -#}
insert into {{ state }}{{ _options_clause(options) }} replace where false
{%- else -%}
insert into {{ state }} ({{ columns | join(', ') }})
{%- endif %}
{{ select }}
{%- endmacro %}
