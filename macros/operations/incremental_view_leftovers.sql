{#- lists relations that the package made for the project and no model needs; `drop: true` drops them -#}
{% macro incremental_view_leftovers(drop=false, format='text') -%}
  {%- if execute -%}
    {%- do print(adapter.incremental_view_leftovers(drop, format)) -%}
  {%- endif -%}
{%- endmacro %}
