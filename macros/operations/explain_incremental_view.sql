{% macro explain_incremental_view(model, format='text') -%}
  {%- if execute -%}
    {%- do log(adapter.explain_incremental_view(model, format), info=True) -%}
  {%- endif -%}
{%- endmacro %}
