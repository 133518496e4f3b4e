{#- prints the rows that the last refresh added to a view and removed from it, as JSON -#}
{% macro incremental_view_changes(view, limit=100) -%}
  {%- if execute -%}
    {%- do print(adapter.incremental_view_changes(view, limit)) -%}
  {%- endif -%}
{%- endmacro %}
