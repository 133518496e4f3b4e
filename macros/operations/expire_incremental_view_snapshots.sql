{#- expires snapshots of the project's Iceberg states and mirrors that are older than some days and not needed -#}
{% macro expire_incremental_view_snapshots(days=5) -%}
  {%- if execute -%}
    {%- do log(adapter.expire_incremental_view_snapshots(days), info=True) -%}
  {%- endif -%}
{%- endmacro %}
