{% macro enable_deletion_vectors(table) -%}
  {{ return(adapter.dispatch('enable_deletion_vectors', 'dbt')(table)) }}
{%- endmacro %}

{% macro default__enable_deletion_vectors(table) -%}
alter table {{ table }} set tblproperties (delta.enableDeletionVectors = true)
{%- endmacro %}
