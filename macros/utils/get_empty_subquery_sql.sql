{#- the columns to compare with a contract; the header of a view was already executed, as separate statements -#}
{% macro incremental_view__get_empty_subquery_sql(select_sql, select_sql_header=none) -%}
  {%- set executed = select_sql_header is not none and config.get('materialized') == 'incremental_view' -%}
  {{ return(default__get_empty_subquery_sql(select_sql, none if executed else select_sql_header)) }}
{%- endmacro %}
