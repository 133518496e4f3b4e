{#- lists what the package made for the project and no model needs any more; `drop: true` drops it -#}
{% macro incremental_view_leftovers(drop=false) -%}
  {%- if execute -%}
    {%- do log(adapter.incremental_view_leftovers(drop), info=True) -%}
  {%- endif -%}
{%- endmacro %}
