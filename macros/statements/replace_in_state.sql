{% macro replace_in_state(state, predicate, select) -%}
  {{ return(adapter.dispatch('replace_in_state', 'dbt')(state, predicate, select)) }}
{%- endmacro %}

{% macro default__replace_in_state(state, predicate, select) -%}
insert into {{ state }} replace where {{ predicate }}
{{ select }}
{%- endmacro %}
