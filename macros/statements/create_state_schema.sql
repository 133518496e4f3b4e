{% macro create_state_schema(schema) -%}
  {{ return(adapter.dispatch('create_state_schema', 'dbt')(schema)) }}
{%- endmacro %}

{#- a state catalog may lack the schema of the views, and a mirror's schema is one that the project names -#}
{% macro default__create_state_schema(schema) -%}
create schema if not exists {{ schema }}
{%- endmacro %}
