{% macro drop_mirror(mirror) -%}
  {{ return(adapter.dispatch('drop_mirror', 'dbt')(mirror)) }}
{%- endmacro %}

{% macro default__drop_mirror(mirror) -%}
drop table if exists {{ mirror }}
{%- endmacro %}
