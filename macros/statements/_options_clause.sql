{#- options of an INSERT, for Iceberg -#}
{% macro _options_clause(options) -%}
{%- if options %} with (
{%- for key, value in options.items() -%}
{{ _string_literal(key) }} = {{ _string_literal(value) }}{{ ', ' if not loop.last }}
{%- endfor -%}
){%- endif %}
{%- endmacro %}
