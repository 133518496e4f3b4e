{#- a text as a SQL literal, with quotes and backslashes escaped -#}
{% macro _string_literal(text) -%}
'{{ text | string | replace('\\', '\\\\') | replace("'", "\\'") }}'
{%- endmacro %}
