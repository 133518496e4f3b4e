{% macro _tblproperties_clause(tblproperties) -%}
{%- if tblproperties %}
tblproperties (
{%- for key, value in tblproperties.items() %}
  {{ _string_literal(key) }} = {{ _string_literal(value) }}{{ ',' if not loop.last }}
{%- endfor %}
)
{%- endif %}
{%- endmacro %}
