{#- prints the last refreshes of a view as JSON, newest first -#}
{% macro incremental_view_history(view, limit=20) -%}
  {%- if execute -%}
    {%- do print(adapter.incremental_view_history(view, limit)) -%}
  {%- endif -%}
{%- endmacro %}
