{#- lists relations that the package made for the project and no model needs; `drop: true` drops them -#}
{% macro incremental_view_leftovers(drop=false) -%}
  {%- if execute -%}
    {%- do log(adapter.incremental_view_leftovers(drop), info=True) -%}
  {%- endif -%}
{%- endmacro %}
