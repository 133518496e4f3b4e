{#- makes a source record its changes before a view needs them; `remove: true` drops its mirror.
    file_format: the format of a new mirror -#}
{% macro capture_changes(source, remove=false, file_format='delta') -%}
  {%- if execute -%}
    {%- do log(adapter.capture_incremental_view_changes(source, remove, file_format), info=True) -%}
  {%- endif -%}
{%- endmacro %}
