{#- prints how up to date the project's incremental views are, as JSON; `views`: names of models, else all -#}
{% macro incremental_view_status(views=none) -%}
  {%- if execute -%}
    {%- do print(adapter.incremental_view_status(views)) -%}
  {%- endif -%}
{%- endmacro %}
