{% macro public_view(view, select, comment='', tblproperties={}, column_comments={}) -%}
  {{ return(adapter.dispatch('public_view', 'dbt')(view, select, comment, tblproperties, column_comments)) }}
{%- endmacro %}

{#- column_comments: all columns of the view in order, or none -#}
{% macro default__public_view(view, select, comment, tblproperties, column_comments) -%}
create or replace view {{ view }}
{%- if column_comments %} (
{%- for column, text in column_comments.items() %}
  {{ _quoted(column) }}{% if text %} comment {{ _string_literal(text) }}{% endif %}{{ ',' if not loop.last }}
{%- endfor %}
)
{%- endif %}
{%- if comment %}
comment {{ _string_literal(comment) }}
{%- endif %}
{{- _tblproperties_clause(tblproperties) }}
as
{{ select }}
{%- endmacro %}
