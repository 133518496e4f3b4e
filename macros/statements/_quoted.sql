{#- an identifier between backticks -#}
{% macro _quoted(identifier) -%}
`{{ identifier | replace('`', '``') }}`
{%- endmacro %}
