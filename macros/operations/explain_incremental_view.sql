{% macro explain_incremental_view(model, format='text') -%}
  {%- if execute -%}
    {%- do print(adapter.explain_incremental_view(model, format)) -%}
  {%- endif -%}
{%- endmacro %}
