{% macro keep_in_memory(name, select) -%}
  {{ return(adapter.dispatch('keep_in_memory', 'dbt')(name, select)) }}
{%- endmacro %}

{#- rows that all views of a run share; a session setting makes Spark store views as analyzed plans -#}
{% macro default__keep_in_memory(name, select) -%}
create global temporary view {{ name.rpartition('.')[2] }} as
{{ select }}
{%- endmacro %}
