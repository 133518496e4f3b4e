{% macro rename_relation_to(kind, relation, name) -%}
  {{ return(adapter.dispatch('rename_relation_to', 'dbt')(kind, relation, name)) }}
{%- endmacro %}

{#- kind: table or view -#}
{% macro default__rename_relation_to(kind, relation, name) -%}
alter {{ kind }} {{ relation }} rename to {{ name }}
{%- endmacro %}
