{#- prints status, last refreshes and plans of views as JSON, for `sparkivm report` -#}
{% macro incremental_view_report(views=none, limit=40) -%}
  {%- if execute -%}
    {%- do print(adapter.incremental_view_report(views, limit)) -%}
  {%- endif -%}
{%- endmacro %}
