{#- has a source record its changes before a view asks for it; `remove: true` drops its mirror.
    file_format: of the mirror, if one is made -#}
{% macro capture_changes(source, remove=false, file_format='delta') -%}
  {%- if execute -%}
    {%- do log(adapter.capture_incremental_view_changes(source, remove, file_format), info=True) -%}
  {%- endif -%}
{%- endmacro %}
