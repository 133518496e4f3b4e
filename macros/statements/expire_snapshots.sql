{% macro expire_snapshots(table, catalog, older_than) -%}
  {{ return(adapter.dispatch('expire_snapshots', 'dbt')(table, catalog, older_than)) }}
{%- endmacro %}

{% macro default__expire_snapshots(table, catalog, older_than) -%}
call {{ catalog ~ '.' if catalog }}system.expire_snapshots(table => {{ _string_literal(table) }}, older_than => timestamp {{ _string_literal(older_than) }})
{%- endmacro %}
