{% macro merge_state(state, source, on, clauses) -%}
  {{ return(adapter.dispatch('merge_state', 'dbt')(state, source, on, clauses)) }}
{%- endmacro %}

{% macro default__merge_state(state, source, on, clauses) -%}
merge into {{ state }} as t
using (
{{ source }}
) as s
on {{ on }}
{{ clauses | join('\n') }}
{%- endmacro %}
