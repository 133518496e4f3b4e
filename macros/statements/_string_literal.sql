{#- a text as a SQL literal; quotes and backslashes stay text -#}
{% macro _string_literal(text) -%}
'{{ text | string | replace('\\', '\\\\') | replace("'", "\\'") }}'
{%- endmacro %}
