{% macro mark_relation(kind, relation, tblproperties) -%}
  {{ return(adapter.dispatch('mark_relation', 'dbt')(kind, relation, tblproperties)) }}
{%- endmacro %}

{#- kind: table or view -#}
{% macro default__mark_relation(kind, relation, tblproperties) -%}
alter {{ kind }} {{ relation }} set {{- _tblproperties_clause(tblproperties) }}
{%- endmacro %}
