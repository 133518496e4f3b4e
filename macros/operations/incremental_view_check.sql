{% macro incremental_view_check(models=none) -%}
  {%- if execute -%}
    {%- for line in adapter.incremental_view_check(models) -%}
      {%- do print(line) -%}
    {%- endfor -%}
  {%- endif -%}
{%- endmacro %}
