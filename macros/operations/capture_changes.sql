{#- makes a source record its changes before a view needs them; `remove: true` drops its mirror.
    file_format: the format of a new mirror, else that of states -#}
{% macro capture_changes(source, remove=false, file_format=none) -%}
  {%- if execute -%}
    {%- do log(adapter.capture_incremental_view_changes(source, remove, file_format), info=True) -%}
  {%- endif -%}
{%- endmacro %}
