{#- has a source record its changes before a view asks for it; `remove: true` drops its mirror -#}
{% macro capture_changes(source, remove=false) -%}
  {%- if execute -%}
    {%- do log(adapter.capture_incremental_view_changes(source, remove), info=True) -%}
  {%- endif -%}
{%- endmacro %}
