{% macro set_mirror_properties(mirror, tblproperties) -%}
  {{ return(adapter.dispatch('set_mirror_properties', 'dbt')(mirror, tblproperties)) }}
{%- endmacro %}

{% macro default__set_mirror_properties(mirror, tblproperties) -%}
alter table {{ mirror }} set {{- _tblproperties_clause(tblproperties) }}
{%- endmacro %}
