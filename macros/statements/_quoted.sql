{#- an identifier in backticks -#}
{% macro _quoted(identifier) -%}
`{{ identifier | replace('`', '``') }}`
{%- endmacro %}
