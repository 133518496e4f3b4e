{% macro insert_seed_rows(table, types, rows, mark) -%}
  {{ return(adapter.dispatch('insert_seed_rows', 'dbt')(table, types, rows, mark)) }}
{%- endmacro %}

{#- mark: a value's place; the values come as bindings, as in dbt-spark's own statement -#}
{% macro default__insert_seed_rows(table, types, rows, mark) -%}
insert into {{ table }} values
{% for _ in range(rows) -%}
({% for type in types %}cast({{ mark }} as {{ type }}){{ ', ' if not loop.last }}{% endfor %}){{ ',\n' if not loop.last }}
{%- endfor %}
{%- endmacro %}
