{% macro unmark_relation(kind, relation, names) -%}
  {{ return(adapter.dispatch('unmark_relation', 'dbt')(kind, relation, names)) }}
{%- endmacro %}

{#- kind: table or view -#}
{% macro default__unmark_relation(kind, relation, names) -%}
alter {{ kind }} {{ relation }} unset tblproperties if exists (
{%- for name in names %}{{ _string_literal(name) }}{{ ', ' if not loop.last }}{% endfor -%}
)
{%- endmacro %}
